"""A look at a value of Python before it is encoded."""

from __future__ import annotations

from math import isfinite

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def is_plain_value(value: Any, depth_max: int) -> bool:
    kind = type(value)
    if kind is str or kind is int or kind is bool or value is None:
        return True
    if kind is float:
        return isfinite(value)
    if depth_max <= 0:
        return False
    if kind is dict:
        return all(
            type(name) is str and name[:1] != "$" and is_plain_value(item, depth_max - 1)
            for name, item in value.items()
        )
    return (kind is list or kind is tuple) and all(
        is_plain_value(item, depth_max - 1) for item in value
    )
