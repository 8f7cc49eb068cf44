"""A file imports only from files above it in the order below; and no file is too long to read in a sitting."""

import ast
import graphlib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "autogradlab"

# From what knows nothing of the rest to what uses everything. A name is a file or a package; what stands on one line
# between bars has one rank: there, and inside a package, any order without a cycle will do. "autogradlab" is the
# package's own __init__, the public face.
ORDER = """
    errors | dtypes | shapes | modes | late
    backends | devices | storage streams
    graph | size printing | exchange tensor
    views convert | dispatch
    operators | table | ops | engine
    autograd linalg random serialization observe utils amp nn optim distributed compiler onnx cuda
    autogradlab
    viz | files | learn
    course
"""
RANKED = [names.split() for line in ORDER.strip().splitlines() for names in line.split("|")]
RANK = {name: rank for rank, names in enumerate(RANKED) for name in names}

FILES = sorted(PACKAGE.rglob("*.py"))
EVERY_FILE = [ROOT / "course.py", ROOT / "conftest.py", *FILES, *sorted((ROOT / "tests").rglob("*.py"))]
EVERY_FILE += sorted((ROOT / "benchmarks").rglob("*.py"))


def module_of(path: Path, top: Path = PACKAGE) -> str:
    """autogradlab.ops.copy for .../autogradlab/ops/copy.py, autogradlab.ops for its __init__."""
    parts = path.relative_to(top.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imports(path: Path, modules: set[str], top: Path = PACKAGE) -> list[tuple[int, str]]:
    """(line, module) of every import from the package, wherever in the file it stands."""
    found = []
    package = module_of(path, top).split(".")
    if path.name != "__init__.py":
        package = package[:-1]
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            source = ".".join([*base, *([node.module] if node.module else [])])
            names = [f"{source}.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Call) and ast.unparse(node.func) in ("importlib.import_module", "__import__"):
            names = [arg.value for arg in node.args[:1] if isinstance(arg, ast.Constant)]
        else:
            continue
        for name in names:
            if name.split(".")[0] == "autogradlab":
                while name not in modules:  # `from package.module import function` means package.module
                    name = name.rpartition(".")[0]
                found.append((node.lineno, name))
    return found


def rank(module: str) -> int | None:
    parts = module.split(".")
    return RANK.get(parts[1] if len(parts) > 1 else parts[0])


def wrong_ways(files: list[Path], top: Path = PACKAGE) -> list[str]:
    """Every import that goes up, and every circle."""
    modules = {module_of(path, top) for path in files}
    problems, graph = [], {}
    for path in files:
        me = module_of(path, top)
        graph[me] = set()
        for line, other in imports(path, modules, top):
            if rank(other) is None or rank(me) is None or rank(other) > rank(me):
                problems.append(f"{path.relative_to(top.parent)}:{line}: {me} imports {other}, which is not above it")
            elif other != me and not me.startswith(f"{other}.") and not other.startswith(f"{me}."):
                graph[me].add(other)
    try:
        graphlib.TopologicalSorter(graph).prepare()
    except graphlib.CycleError as error:
        problems.append("a circle: " + " -> ".join(error.args[1]))
    return problems


def test_there_is_something_to_look_at():
    assert len(FILES) > 20 and PACKAGE / "tensor.py" in FILES


def test_every_file_has_its_place_in_the_order():
    unplaced = [str(path.relative_to(ROOT)) for path in FILES if rank(module_of(path)) is None]
    assert not unplaced, "give these a place in ORDER, and in the map of CONTRIBUTING.md"


def test_imports_go_only_downwards():
    assert not wrong_ways(FILES)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("shapes.py", "def f():\n    from .tensor import Tensor\n"),
        ("shapes.py", "import autogradlab.viz\n"),
        ("dtypes.py", "from autogradlab import shapes\n"),
        ("dtypes.py", "import importlib\nimportlib.import_module('autogradlab.tensor')\n"),
        ("ops/copy.py", "import autogradlab\n"),
        ("ops/copy.py", "from ..engine import run\n"),
        ("ops/copy.py", "from .shape import expand\n"),
        ("new.py", "from . import errors\n"),
    ],
)
def test_a_wrong_import_is_seen(tmp_path, name, text):
    top = tmp_path / "autogradlab"
    good = {"tensor": "", "shapes": "from .errors import e", "dtypes": "", "engine": ""}
    good |= {"errors": "e = 1", "viz/__init__": "import autogradlab", "ops/__init__": "from . import shape, copy"}
    good |= {"ops/shape": "from . import copy\nfrom autogradlab import tensor", "ops/copy": "", "__init__": ""}
    for stem, content in good.items():
        (top / f"{stem}.py").parent.mkdir(parents=True, exist_ok=True)
        (top / f"{stem}.py").write_text(content)
    assert wrong_ways(sorted(top.rglob("*.py")), top) == []
    (top / name).write_text(text)
    assert len(wrong_ways(sorted(top.rglob("*.py")), top)) == 1


@pytest.mark.parametrize("path", EVERY_FILE, ids=lambda path: str(path.relative_to(ROOT)))
def test_a_file_can_be_read_in_a_sitting(path):
    text = path.read_text(encoding="utf-8")
    lines = text.splitlines()
    assert len(lines) <= 400, f"{len(lines)} lines: one idea a file"
    assert not [number for number, line in enumerate(lines, 1) if len(line) > 120]
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            length = node.end_lineno - node.lineno + 1
            assert length <= 60, f"{node.name} has {length} lines: at most 60"
