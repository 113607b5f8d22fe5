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
            _is_plain_name(name) and is_plain_value(item, depth_max - 1)
            for name, item in value.items()
        )
    return (kind is list or kind is tuple) and all(
        is_plain_value(item, depth_max - 1) for item in value
    )


def _is_plain_name(name: Any) -> bool:
    if type(name) is not str or name[:1] == "$":
        return False
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True
