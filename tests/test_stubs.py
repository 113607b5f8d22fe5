"""The stub of the engines' boundary against what the engines are."""

from __future__ import annotations

import ast
import importlib
import inspect
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.once

PYTHON = Path(__file__).resolve().parent.parent / "python"
STUB = ast.parse((PYTHON / "safepoint" / "_native.pyi").read_text(encoding="utf-8"))
FUNCTIONS = {node.name: node for node in STUB.body if isinstance(node, ast.FunctionDef)}
CONSTANTS = [
    node.target.id
    for node in STUB.body
    if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name)
]
ENGINES = ("_native", "_fallback")


def stub_parameters(node: ast.FunctionDef) -> list[tuple[str, bool]]:
    """Names in order, and whether each has a default."""
    names = [argument.arg for argument in node.args.args]
    required = len(names) - len(node.args.defaults)
    return [(name, place >= required) for place, name in enumerate(names)]


@pytest.mark.slow
def test_stubtest_finds_no_drift(tmp_path: Path) -> None:
    """mypy's own check: names, parameters and defaults of the compiled module are the stub's."""
    allowed = tmp_path / "allowed.txt"
    allowed.write_text("safepoint._native.__all__\n")  # PyO3 makes it from what is exported
    command = [sys.executable, "-m", "mypy.stubtest", "safepoint._native", "--concise"]
    command += ["--allowlist", str(allowed)]
    environment = {**os.environ, "MYPYPATH": str(PYTHON), "SAFEPOINT_ENGINE": "native"}
    done = subprocess.run(
        command, env=environment, cwd=PYTHON.parent, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_signatures_are_the_stubs(engine: str, name: str) -> None:
    """A call that works with one engine works with the other, keywords and defaults included."""
    function = getattr(importlib.import_module(f"safepoint.{engine}"), name)
    found = [
        (parameter.name, parameter.default is not inspect.Parameter.empty)
        for parameter in inspect.signature(function).parameters.values()
    ]
    assert found == stub_parameters(FUNCTIONS[name])


@pytest.mark.parametrize("name", FUNCTIONS)
def test_defaults_are_the_same(name: str) -> None:
    """The stub writes `...` for some defaults; the engines must agree on what that is."""
    native, fallback = (
        inspect.signature(getattr(importlib.import_module(f"safepoint.{engine}"), name))
        for engine in ENGINES
    )
    for parameter in fallback.parameters.values():
        assert native.parameters[parameter.name].default == parameter.default


@pytest.mark.parametrize("name", CONSTANTS)
def test_limits_are_the_same(name: str) -> None:
    """A limit that differs gives two verdicts on one file."""
    native, fallback = (
        getattr(importlib.import_module(f"safepoint.{engine}"), name) for engine in ENGINES
    )
    assert type(native) is int
    assert native == fallback


@pytest.mark.parametrize("engine", ENGINES)
def test_engines_export_nothing_else(engine: str) -> None:
    """Whatever one engine has more than the stub would be used some day."""
    module = importlib.import_module(f"safepoint.{engine}")
    public = {name for name in module.__all__ if not name.startswith("_")}
    assert public == {*FUNCTIONS, *CONSTANTS}
