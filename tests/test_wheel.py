"""The wheel where users install it, without Rust, on every CPython here; and no extension."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

pytestmark = [pytest.mark.once, pytest.mark.slow]

ROOT = Path(__file__).resolve().parent.parent
MINORS = range(11, 20)

SMOKE = textwrap.dedent(
    """
    import sys
    import safepoint

    wanted, place = sys.argv[1:]
    assert safepoint.engine() == wanted, safepoint.engine()
    store = safepoint.open_store(place)
    with store.create("run") as session:
        session.append_many([("message", {"n": n}) for n in range(100)])
        session.checkpoint({"n": 99})
        session.append("message", {"n": 100})
    with store.resume("run") as session:
        assert session.state == {"n": 99}
        assert [event.data for event in session.replay()] == [{"n": 100}]
    assert store.inspect("run").state == "clean"
    assert ("safepoint._native" in sys.modules) == (wanted == "native")
    print("smoke passed")
    """
)


def interpreters() -> dict[str, str]:
    """Every CPython from 3.11 on, one a version: on PATH and where pyenv keeps them."""
    candidates = [sys.executable, *filter(None, (shutil.which(f"python3.{n}") for n in MINORS))]
    candidates += map(str, sorted(Path.home().glob(".pyenv/versions/*/bin/python3")))
    ask = "import sys; print(sys.implementation.name, *sys.version_info[:2]); import ensurepip"
    found: dict[str, str] = {}
    for candidate in candidates:
        done = subprocess.run([candidate, "-c", ask], capture_output=True, text=True)
        if done.returncode or not done.stdout.startswith("cpython 3 "):
            continue
        minor = int(done.stdout.split()[2])
        if minor in MINORS:
            found.setdefault(f"3.{minor}", candidate)
    return found


INTERPRETERS = interpreters()


def environment(**changes: str) -> dict[str, str]:
    """This process's environment without what points at the source tree, Rust or an outer make."""
    dropped = ("PYTHONPATH", "VIRTUAL_ENV", "SAFEPOINT_ENGINE", "MAKEFLAGS", "MFLAGS", "MAKELEVEL")
    return {k: v for k, v in os.environ.items() if k not in dropped} | changes


def call(*command: object, **changes: str) -> subprocess.CompletedProcess[str]:
    """Runs a command outside the source tree and insists that it succeeds."""
    done = subprocess.run(
        [str(part) for part in command],
        env=environment(**changes),
        cwd=changes.get("HOME", "/"),
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel that `make wheel` builds."""
    folder = tmp_path_factory.mktemp("dist")
    call("make", "-C", ROOT, "wheel", f"DIST={folder}")
    [built] = folder.glob("*.whl")
    return built


def test_one_wheel_serves_all_versions(wheel: Path) -> None:
    """abi3: the file name promises CPython 3.11 and newer."""
    assert "-cp311-abi3-" in wheel.name


@pytest.mark.parametrize("version", INTERPRETERS)
def test_wheel_works_without_rust(version: str, wheel: Path, tmp_path: Path) -> None:
    """pip installs it into a clean venv with no toolchain in sight, and the main job runs."""
    venv = tmp_path / "venv"
    call(INTERPRETERS[version], "-m", "venv", venv)
    bin_only = {"PATH": str(venv / "bin"), "HOME": str(tmp_path)}
    call(venv / "bin" / "python", "-m", "pip", "install", "--quiet", wheel, **bin_only)
    done = call(venv / "bin" / "python", "-c", SMOKE, "native", tmp_path / "store", **bin_only)
    assert done.stdout == "smoke passed\n"
    assert done.stderr == ""
    done = call(venv / "bin" / "safepoint", "inspect", tmp_path / "store" / "run", **bin_only)
    assert "clean" in done.stdout


@pytest.fixture
def without_extension(tmp_path: Path) -> Path:
    """A folder for PYTHONPATH whose safepoint has no compiled module."""
    ignore = shutil.ignore_patterns("*.so", "*.pyd", "__pycache__")
    shutil.copytree(ROOT / "python" / "safepoint", tmp_path / "pure" / "safepoint", ignore=ignore)
    return tmp_path / "pure"


def smoke(pure: Path, tmp_path: Path, **changes: str) -> subprocess.CompletedProcess[str]:
    """The smoke test on that package."""
    command = [sys.executable, "-W", "always", "-c", SMOKE, "fallback", str(tmp_path / "store")]
    return subprocess.run(
        command,
        env=environment(PYTHONPATH=str(pure), **changes),
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )


def test_works_without_the_extension_and_warns(without_extension: Path, tmp_path: Path) -> None:
    """A platform without a wheel gets a slow safepoint that says so, not an ImportError."""
    done = smoke(without_extension, tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("RuntimeWarning: safepoint runs on its slow fallback engine") == 1


def test_asking_for_the_fallback_is_quiet(without_extension: Path, tmp_path: Path) -> None:
    """Who asked for it knows."""
    done = smoke(without_extension, tmp_path, SAFEPOINT_ENGINE="fallback")
    assert (done.returncode, done.stderr) == (0, "")


def test_insisting_on_native_fails_without_it(without_extension: Path, tmp_path: Path) -> None:
    """A benchmark or a deployment that insists must not run on the twin unnoticed."""
    done = smoke(without_extension, tmp_path, SAFEPOINT_ENGINE="native")
    assert done.returncode != 0
    assert "ImportError" in done.stderr
