"""The rules of the house that can be checked: layers, sizes, docstrings, words, who writes."""

from __future__ import annotations

import ast
import re
import statistics
from collections.abc import Iterator
from pathlib import Path

import pytest

pytestmark = pytest.mark.once

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "python" / "safepoint"
MODULES = {path.stem: path for path in sorted(PACKAGE.glob("*.py"))}
TREES = {name: ast.parse(path.read_text(encoding="utf-8")) for name, path in MODULES.items()}
PYTHON_FILES = sorted(
    path for folder in ("python", "tests", "benches") for path in (ROOT / folder).rglob("*.py")
)
RUST_FILES = sorted(
    path for path in (ROOT / "rust").rglob("*.rs") if "target" not in path.relative_to(ROOT).parts
)

FILE_LINES_MAX = 500
FUNCTION_LINES_MAX = 70
FUNCTION_LINES_MEDIAN_MAX = 10
LINE_CHARS_MAX = 100

LAYERS: tuple[tuple[int, tuple[str, ...]], ...] = (
    (0, ("errors", "version")),
    (0, ("types",)),
    (1, ("files", "_native", "_fallback")),
    (2, ("scan", "blobs", "lock", "protocols")),
    (2, ("events",)),
    (3, ("manifest",)),
    (3, ("log",)),
    (3, ("writer",)),
    (4, ("checkpoint",)),
    (4, ("recovery",)),
    (4, ("inspection", "memory", "mend", "reader")),
    (5, ("resume",)),
    (6, ("batch", "creation", "upkeep")),
    (6, ("durability",)),
    (6, ("session",)),
    (6, ("store",)),
    (7, ("api",)),
    (7, ("__init__",)),
    (7, ("cli", "testing")),
)
"""Rows from the ground up, with DESIGN's layer: a module imports from earlier rows only."""

ROOMS = {
    "_fallback": r"_fallback_\w+",
    "testing": r"_simulated\w*",
    "cli": r"demo|_demo_\w+|_terminal|__main__",
}
"""Private helpers belong to the room of their module and may be imported inside it alone."""

WRITES = frozenset(
    (
        *("write", "writev", "pwrite", "pwritev", "sendfile", "copy_file_range", "posix_fallocate"),
        *("fsync", "fdatasync", "truncate", "ftruncate", "chmod", "fchmod"),
        *("rename", "renames", "replace", "link", "symlink", "unlink", "remove"),
        *("mkdir", "makedirs", "mkfifo", "mknod", "rmdir", "removedirs"),
    )
)
WRITE_FLAGS = frozenset(("O_WRONLY", "O_RDWR", "O_CREAT", "O_TRUNC", "O_APPEND"))
WRITERS = frozenset(("files", "testing"))
"""Rooms that may change a disk: the real one and the simulated one."""
DEMO_WRITERS = frozenset(("demo", "_demo_writer", "_terminal"))
"""The demo's witness shares no code with what it judges; the terminal opens /dev/null."""

NOT_OUR_WORDS = frozenset(
    (
        *("conversation", "transcript", "journal", "snapshot", "metadata", "reducer", "projection"),
        *("attachment", "importer", "mutex", "clone", "heal", "generation"),
    )
)


def room(name: str) -> str:
    """The module that stands in LAYERS for `name`."""
    return next((owner for owner, names in ROOMS.items() if re.fullmatch(names, name)), name)


def level(name: str) -> int:
    """The row of a module in LAYERS."""
    rows = [row for row, (_, names) in enumerate(LAYERS) if room(name) in names]
    assert rows, f"{name}.py stands in no layer: add it to LAYERS"
    return rows[0]


def is_type_checking(node: ast.AST) -> bool:
    """Whether this is `if TYPE_CHECKING:`, whose imports never run."""
    return (
        isinstance(node, ast.If)
        and isinstance(node.test, ast.Name)
        and node.test.id == "TYPE_CHECKING"
    )


def running_nodes(tree: ast.AST) -> Iterator[ast.AST]:
    """Every node but those under `if TYPE_CHECKING:`."""
    for child in ast.iter_child_nodes(tree):
        if not is_type_checking(child):
            yield child
            yield from running_nodes(child)


def imported(tree: ast.AST) -> set[str]:
    """Modules of the package that a module imports, late imports too."""
    found: set[str] = set()
    for node in running_nodes(tree):
        if isinstance(node, ast.ImportFrom):
            inside = node.level > 0 or (node.module or "").split(".")[0] == "safepoint"
            if inside:
                found |= _targets(node)
        elif isinstance(node, ast.Import):
            for alias in node.names:
                parts = alias.name.split(".")
                if parts[0] == "safepoint":
                    found.add(parts[1] if len(parts) > 1 else "__init__")
    return found


def _targets(node: ast.ImportFrom) -> set[str]:
    module = (node.module or "").removeprefix("safepoint").strip(".")
    if module:
        return {module.split(".")[0]}
    names = {alias.name for alias in node.names}
    known = names & (set(MODULES) | {"_native"})
    return known | ({"__init__"} if names - known else set())


def functions(tree: ast.AST) -> list[ast.FunctionDef | ast.AsyncFunctionDef]:
    """All functions of a module, nested ones too."""
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef)
    return [node for node in ast.walk(tree) if isinstance(node, kinds)]


def public_definitions(body: list[ast.stmt], prefix: str) -> Iterator[tuple[str, ast.stmt]]:
    """Public functions, classes and methods with their dotted names."""
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    for node in body:
        if isinstance(node, kinds) and not node.name.startswith("_"):
            yield f"{prefix}.{node.name}", node
            if isinstance(node, ast.ClassDef):
                yield from public_definitions(node.body, f"{prefix}.{node.name}")


def called(tree: ast.AST) -> Iterator[ast.Call]:
    """Every call in a module."""
    return (node for node in ast.walk(tree) if isinstance(node, ast.Call))


@pytest.mark.parametrize("name", MODULES)
def test_imports_go_down(name: str) -> None:
    """A layer that reached up would make the design's picture a lie."""
    for target in imported(TREES[name]):
        if room(target) == room(name):
            continue
        private = room(target) != target and target != "demo"
        assert not private, f"{name} imports {target}, a helper of {room(target)}"
        assert level(target) < level(name), f"{name} imports {target}, which is not below it"


@pytest.mark.parametrize("name", MODULES)
def test_scan_alone_imports_an_engine(name: str) -> None:
    """With one place that chooses, no call can reach the engine that was not chosen."""
    engines = {"_native", "_fallback"} & imported(TREES[name])
    if name != "scan" and room(name) != "_fallback":
        assert not engines


@pytest.mark.parametrize("name", MODULES)
def test_only_files_writes(name: str) -> None:
    """Crashes can be enumerated only if every change of the disk goes through the seam."""
    if room(name) in WRITERS or name in DEMO_WRITERS:
        return
    for node in ast.walk(TREES[name]):
        if isinstance(node, ast.Attribute):
            changes = _is_name(node.value, "os") and node.attr in WRITES | WRITE_FLAGS
            assert not changes, f"{name}:{node.lineno} uses os.{node.attr}"
            assert node.attr not in ("write_text", "write_bytes"), f"{name}:{node.lineno}"
        if isinstance(node, ast.ImportFrom):
            assert node.module not in ("os", "shutil", "posix"), f"{name}:{node.lineno}"
        if isinstance(node, ast.Call) and _is_name(node.func, "open"):
            assert "r" in _open_mode(node), f"{name}:{node.lineno} opens a file to write"


def _open_mode(call: ast.Call) -> str:
    modes = [*call.args[1:2], *(word.value for word in call.keywords if word.arg == "mode")]
    if not modes:
        return "r"
    mode = modes[0]
    return mode.value if isinstance(mode, ast.Constant) and "+" not in mode.value else ""


@pytest.mark.parametrize("name", MODULES)
def test_only_the_command_prints(name: str) -> None:
    """A library that prints spoils its caller's output."""
    prints = [call for call in called(TREES[name]) if _is_name(call.func, "print")]
    assert not prints or room(name) == "cli"


def _is_name(node: ast.AST, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name


@pytest.mark.parametrize("path", PYTHON_FILES + RUST_FILES, ids=lambda p: str(p.relative_to(ROOT)))
def test_files_are_small(path: Path) -> None:
    """One idea a file; lines that fit beside each other on a screen."""
    lines = path.read_text(encoding="utf-8").splitlines()
    assert len(lines) <= FILE_LINES_MAX
    long = [number for number, line in enumerate(lines, 1) if len(line) > LINE_CHARS_MAX]
    assert not long, f"lines longer than {LINE_CHARS_MAX}: {long}"


@pytest.mark.parametrize("path", PYTHON_FILES, ids=lambda p: str(p.relative_to(ROOT)))
def test_python_functions_are_short(path: Path) -> None:
    """A function that does not fit on a screen does more than one thing."""
    for node in functions(ast.parse(path.read_text(encoding="utf-8"))):
        assert node.end_lineno is not None
        length = node.end_lineno - node.lineno + 1
        assert length <= FUNCTION_LINES_MAX, f"{node.name} has {length} lines"


@pytest.mark.parametrize("path", RUST_FILES, ids=lambda p: str(p.relative_to(ROOT)))
def test_rust_functions_are_short(path: Path) -> None:
    """The same for Rust; rustfmt puts the closing brace under the start of its function."""
    lines = path.read_text(encoding="utf-8").splitlines()
    for start, line in enumerate(lines):
        found = re.match(r"(\s*)(pub(\([\w:]+\))? )?(const |unsafe )*fn (\w+)", line)
        if found is None or line.rstrip().endswith(("}", ";")):
            continue
        stops = (n for n, text in enumerate(lines[start:], 1) if text == found[1] + "}")
        assert next(stops, 1) <= FUNCTION_LINES_MAX, f"{found[5]} is too long"


def test_median_function_is_tiny() -> None:
    """Most functions should say one thing."""
    lengths = [
        (node.end_lineno or 0) - node.lineno + 1
        for tree in TREES.values()
        for node in functions(tree)
    ]
    assert statistics.median(lengths) < FUNCTION_LINES_MEDIAN_MAX


@pytest.mark.parametrize("name", MODULES)
def test_public_names_are_documented(name: str) -> None:
    """`help()` must answer for everything that a user can reach."""
    assert ast.get_docstring(TREES[name]), f"{name} has no docstring"
    if name.startswith("_"):
        return
    for dotted, node in public_definitions(TREES[name].body, name):
        assert isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef))
        assert ast.get_docstring(node), f"{dotted} has no docstring"


@pytest.mark.parametrize("name", MODULES)
def test_public_names_use_our_words(name: str) -> None:
    """One word, one meaning: the field's other words for the same thing stay out of the API."""
    if name.startswith("_"):
        return
    for dotted, _ in public_definitions(TREES[name].body, name):
        words = set(re.findall(r"[a-z]+", re.sub(r"([A-Z])", r" \1", dotted).lower()))
        assert not words & NOT_OUR_WORDS, dotted


@pytest.mark.parametrize(
    "path", sorted((ROOT / "tests").rglob("test_*.py")), ids=lambda path: path.stem
)
def test_tests_say_why_they_exist(path: Path) -> None:
    """A test nobody can explain is a test nobody dares to change."""
    for node in functions(ast.parse(path.read_text(encoding="utf-8"))):
        if node.name.startswith("test_"):
            assert ast.get_docstring(node), f"{node.name} has no docstring"


def test_every_verb_is_in_the_readme() -> None:
    """A verb that the README does not show does not exist for its readers."""
    from safepoint.cli import parser

    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    subparsers = next(action for action in parser()._actions if action.dest == "verb")
    assert subparsers.choices
    for verb in subparsers.choices:
        assert re.search(rf"safepoint {verb}\b", readme), f"README.md does not show `{verb}`"


def test_init_holds_no_logic() -> None:
    """What `import safepoint` gives is a table, readable at a glance, and the lookup in it."""
    for node in TREES["__init__"].body:
        plain = (ast.Import, ast.ImportFrom, ast.Expr, ast.Assign, ast.AnnAssign)
        lookup = isinstance(node, ast.FunctionDef) and node.name == "__getattr__"
        assert isinstance(node, plain) or lookup or is_type_checking(node), f"line {node.lineno}"
    used = (ast.For, ast.While, ast.Try, ast.With, ast.Lambda)
    assert not [node for node in ast.walk(TREES["__init__"]) if isinstance(node, used)]


@pytest.mark.parametrize("crate", ["core", "py"])
def test_lib_rs_holds_no_logic(crate: str) -> None:
    """The same for Rust: an essay, lints, modules and exports."""
    text = rust_code(ROOT / "rust" / crate / "src" / "lib.rs")
    assert not re.findall(r"\b(?:if|for|while|loop|match|impl|struct|enum)\b", text)
    allowed = 0 if crate == "core" else 2
    assert len(re.findall(r"\bfn\b", text)) <= allowed


def rust_code(path: Path) -> str:
    """A Rust file without its comments."""
    return re.sub(r"//[^\n]*", "", path.read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", MODULES)
def test_no_mutable_state_in_modules(name: str) -> None:
    """Two stores in one process must not meet in a module's list; capitals are constant."""
    makers = {"list", "dict", "set", "defaultdict", "deque", "Counter", "WeakSet"}
    literals = (ast.List, ast.Dict, ast.Set, ast.ListComp, ast.DictComp, ast.SetComp)
    for node in TREES[name].body:
        if not isinstance(node, (ast.Assign, ast.AnnAssign)) or node.value is None:
            continue
        made = isinstance(node.value, ast.Call) and isinstance(node.value.func, ast.Name)
        mutable = isinstance(node.value, literals) or (made and node.value.func.id in makers)
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        for target in targets:
            if mutable and isinstance(target, ast.Name) and target.id != "__all__":
                assert target.id.isupper(), f"{name}.{target.id} is mutable state"


def test_record_layout_lives_in_two_places() -> None:
    """Core's record.rs and the twin know the layout; a third copy would drift."""
    sources = [*PACKAGE.glob("*.py"), *(ROOT / "rust").glob("*/src/**/*.rs")]
    layout = re.compile(r',\\?"crc\\?":\\?"')
    for path in sources:
        if path.name == "record.rs" or path.stem.startswith("_fallback"):
            continue
        assert not layout.search(path.read_text(encoding="utf-8")), path


def test_unsafe_has_its_places() -> None:
    """What Rust cannot check for us: a borrowed descriptor, and vector instructions in the two
    files for them, each block with its reason.
    """
    places = set()
    for path in RUST_FILES:
        code = rust_code(path)
        blocks = len(re.findall(r"\bunsafe\s*(?:\{|fn|impl)", code))
        if blocks:
            reasons = len(re.findall(r"// SAFETY: ", path.read_text(encoding="utf-8")))
            assert reasons == blocks, path
            places.add((path.relative_to(ROOT / "rust").as_posix(), blocks > 1))
    assert places == {
        ("core/src/masks/avx2.rs", True),
        ("core/src/masks/avx512.rs", True),
        ("py/src/file.rs", False),
    }
    core = (ROOT / "rust" / "core" / "src" / "lib.rs").read_text(encoding="utf-8")
    assert "#![deny(unsafe_code)]" in core and core.count("#[allow(unsafe_code") == 1


def test_versions_agree() -> None:
    """One number, in Cargo.toml; the changelog has a section for it."""
    cargo = (ROOT / "Cargo.toml").read_text(encoding="utf-8")
    version = re.search(r'^version = "([^"]+)"', cargo, re.MULTILINE)
    assert version is not None
    assert f"\n## {version[1]}" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert 'dynamic = ["version"]' in (ROOT / "pyproject.toml").read_text(encoding="utf-8")
