"""Names that are bound late: each is found, whichever is asked for first, and loads the file that has it."""

import ast
import os
import pickle
import subprocess
import sys
from pathlib import Path

import pytest

import autogradlab as torch
from autogradlab import late

ROOT = Path(__file__).resolve().parents[1]


def run(program: str, *args: str) -> str:
    """What a program prints in a fresh process, where nothing is loaded yet."""
    done = subprocess.run([sys.executable, "-c", program, *args], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


# The lists of names ---------------------------------------------------------------------------------------------------

BINDS = """
import sys
from importlib import import_module
from pathlib import Path
from autogradlab import late

class Recorder(dict):
    "What is bound, and which file bound it."

    def __init__(self):
        self.by = {}

    def __setitem__(self, name, value):
        frame = sys._getframe(1)
        while frame.f_code.co_name != "<module>":
            frame = frame.f_back
        self.by[name] = frame.f_globals["__name__"]
        super().__setitem__(name, value)

assert "autogradlab.table" not in sys.modules
kinds = {"function": late.functions, "method": late.methods, "nn": late.nn_functions, "operator": late.operators}
for names in kinds.values():
    names.bound = Recorder()
late.load_all()
for path in sorted(Path("autogradlab/ops").glob("[a-z]*.py")):
    import_module(f"autogradlab.ops.{path.stem}")
for kind, names in kinds.items():
    for name, module in names.bound.by.items():
        print(kind, name, module)
"""


def words(homes: dict) -> set[tuple[str, str]]:
    """(module, word) as the lists have them, from {"function": {name: module}, "method": ..., "nn": ...}."""
    functions, methods = homes["function"], homes["method"]
    both = {n for n in functions if n in methods and functions[n] == methods[n]}
    found = {(m, n if n in both else f"{n}()") for n, m in functions.items()}
    found |= {(m, f".{n}") for n, m in methods.items() if n not in both}
    return found | {(m, f"nn.{n}") for n, m in homes["nn"].items()}


def test_the_lists_say_which_file_binds_what():
    bound = {"function": {}, "method": {}, "nn": {}, "operator": {}}
    for line in run(BINDS).splitlines():
        kind, name, module = line.split()
        bound[kind][name] = module
    listed = {"function": late.functions.files, "method": late.methods.files, "nn": late.nn_functions.files}
    assert len(bound["function"]) > 400
    missing, wrong = words(bound) - words(listed), words(listed) - words(bound)
    say = [f"to the line of {m.rpartition('.')[2]} add {w}" for m, w in sorted(missing)]
    say += [f"from the line of {m.rpartition('.')[2]} take {w}" for m, w in sorted(wrong)]
    say += [f"add a line for {m.rpartition('.')[2]}" for m in sorted(set(bound["operator"].values()) - {*late.MODULES})]
    assert not say, f"in autogradlab/ops/__init__.py (or autogradlab/__init__.py): {'; '.join(say)}"


def test_no_file_and_no_name_is_listed_twice():
    from autogradlab import ops

    listed = [word for word in ops.CONTENTS.split() if not word.startswith("nn.")]
    listed = [word if word.endswith(":") else word.removesuffix("()") for word in listed]
    assert len(listed) == len(set(listed)) and len(late.MODULES) == len(set(late.MODULES))


@pytest.mark.parametrize("path", sorted((ROOT / "autogradlab" / "ops").glob("*.py")), ids=lambda path: path.stem)
def test_names_of_other_files_are_asked_for_through_late(path):
    """The tables' own dicts have only what is loaded already: blocks write to them, and read late.functions."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load):
            assert ast.unparse(node.value) not in ("functions", "nn_functions", "methods"), f"line {node.lineno}"


FILES_ALONE = """
import os, numpy
from importlib import import_module
from autogradlab import late

for module in late.MODULES:
    child = os.fork()
    if not child:
        import_module(module)
        for names in (late.functions, late.methods, late.nn_functions):
            assert all(name in names.bound for name, file in names.files.items() if file == module), module
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0, module
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_every_file_can_be_the_first_to_be_loaded():
    run(FILES_ALONE)


def test_importing_loads_no_operators():
    loaded = run("import sys, autogradlab; print(*(m for m in sys.modules if m.startswith('autogradlab')))").split()
    assert not [m for m in loaded if m.startswith("autogradlab.ops.")] and len(loaded) < 20, loaded


# Whatever comes first -------------------------------------------------------------------------------------------------

FIRST = {
    "a function of torch": """
from autogradlab import relu, conv2d, selu, tensor
assert relu(tensor([-1.0, 2.0])).tolist() == [0, 2] and callable(conv2d) and callable(selu)""",
    "everything by a star": """
from autogradlab import *
assert matmul(eye(2), ones(2, 2)).sum() == 4 and float32 and Tensor""",
    "nn.functional": """
from autogradlab.nn import functional as F
import autogradlab as torch
assert F.one_hot(torch.tensor([1]), 3).tolist() == [[0, 1, 0]] and F.relu(torch.ones(1)) == 1""",
    "a module that binds names of torch": """
import autogradlab.linalg
assert autogradlab.linalg.det(autogradlab.eye(2)) == 1 and autogradlab.inverse(autogradlab.eye(2)).shape == (2, 2)""",
    "attention, which uses other layers": """
import autogradlab as torch
from autogradlab.ops.attention import multi_head_attention_forward
q, w = torch.ones(2, 1, 4), torch.ones(12, 4)
multi_head_attention_forward(q, q, q, 4, 2, w, None, None, None, False, 0.5, torch.ones(4, 4), None)""",
    "arithmetic and backward": """
import autogradlab as torch
x = torch.Tensor([1, 2]).requires_grad_()
z = (x * x + x).sum()
z.backward()
assert x.grad.tolist() == [3, 5]
from types import FunctionType
assert all(type(vars(torch.Tensor)[n]) is FunctionType for n in ("__mul__", "__add__", "sum", "backward"))""",
    "Python's symbols": """
import numpy, autogradlab as torch
x = torch.Tensor([1, 2])
assert (5 - x).tolist() == [4, 3] and (numpy.float32(2) * x).tolist() == [2, 4] and (x @ x) == 5
assert x[1] == 2 and 1.0 in x and [float(v) for v in x] == [1, 2] and (-x).tolist() == [-1, -2]
assert not (x == x + 1).any()
x += 1
x[0] = 7
assert numpy.asarray(x).tolist() == [7, 3] and len({x, x}) == 1""",
    "members asked for by name": """
import inspect, autogradlab as torch
T = torch.Tensor
assert hasattr(T, "tanh_") and hasattr(T([1]), "view") and not hasattr(T, "tensor") and not hasattr(T, "nothing")
assert "softmax" in dir(T) and "softmax" in dir(torch) and "conv2d" in dir(torch)
assert T.cumsum.__name__ == "cumsum" and T.cumsum.__doc__ and "dim" in inspect.signature(T.cumsum).parameters
assert isinstance(T.mT, property)
x = T([1, 2])
try:
    x.T = 3
except AttributeError as error:
    assert "setter" in str(error) and "T" not in x.__dict__
else:
    raise AssertionError("T was set")
x.exp = 5  # a method may be hidden by an attribute
assert x.exp == 5 and T([0]).exp() == 1""",
    "a subclass": """
import autogradlab as torch
class Mine(torch.Tensor):
    def relu(self):
        return super().relu() + 1
x = torch.tensor([-1.0, 2.0])
x.__class__ = Mine
assert x.relu().tolist() == [1, 3] and x.abs().tolist() == [1, 2]""",
    "copies": """
import copy, pickle, autogradlab as torch
x = torch.Tensor([1, 2]).requires_grad_()
for y in (copy.deepcopy(x), copy.copy(x), pickle.loads(pickle.dumps(x))):
    assert y is not x and y.requires_grad and y.tolist() == [1, 2]""",
    "an attribute of a tensor by a method's name": """
import autogradlab as torch
x = torch.Tensor([1, 2])
vars(x)["median"] = 5
assert x.median == x.median == 5 and torch.Tensor([3]).median() == 3""",
    "import *": """
from autogradlab import *
assert save and compile and autocast and is_anomaly_enabled and relu and not {"math", "late", "ops"} & set(dir())""",
    "an interrupt while a file is loaded": """
import sys, autogradlab as torch
x, lines = torch.Tensor([3, 1, 2]), 0
def stop_at(frame, event, arg):
    global lines
    lines += event == "line" and "/ops/reduce" in frame.f_code.co_filename
    if lines == 30:
        lines += 1
        raise KeyboardInterrupt
    return stop_at
sys.settrace(stop_at)
try:
    x.sum()
except KeyboardInterrupt:
    stopped = True
sys.settrace(None)
assert stopped and x.sum().item() == 6 and x.tanh().sum() < 3""",
    "a fork while another thread loads": """
import os, signal, sys, threading, time, autogradlab as torch
inside = threading.Event()
def dawdle(frame, event, arg):  # the thread stays in the middle of a file for a while
    if frame.f_code.co_filename.endswith("products.py") and not inside.is_set():
        inside.set()
        time.sleep(0.3)
def load():
    sys.settrace(dawdle)
    torch.einsum
thread = threading.Thread(target=load)
thread.start()
inside.wait()
child = os.fork() if hasattr(os, "fork") else None
if child == 0:
    signal.alarm(10)  # ends a child that waits for a thread it has not got
    os._exit(0 if torch.einsum("i,i", torch.ones(3), torch.ones(3)).item() == 3 else 1)
thread.join()
assert not child or os.waitpid(child, 0)[1] == 0""",
    "trace": """
import autogradlab as torch
with torch.trace() as t:
    torch.ones(2) * 2
assert "mul" in str(t), str(t)""",
    "trace of a matrix": "import autogradlab as torch; assert torch.trace(torch.eye(3)) == 3",
    "compile": """
import autogradlab as torch
f = torch.compile(lambda x: (x * 2 + 1).tanh())
x = torch.Tensor([1, 2])
assert torch.equal(f(x), (x * 2 + 1).tanh()) and torch.equal(f(x), (x * 2 + 1).tanh())
from types import FunctionType
assert type(vars(torch.Tensor)["backward"]) is FunctionType""",
    "inference mode": """
import autogradlab as torch
with torch.inference_mode():
    x = torch.ones(2) * 3
assert x.is_inference()
y = torch.ones(2).requires_grad_() * 3
assert y.requires_grad""",
    "names that are not there": """
import sys, autogradlab as torch
def error(ask):
    try:
        ask()
    except AttributeError as error:
        return str(error)
assert error(lambda: torch.nothing) == "module 'autogradlab' has no attribute 'nothing'"
assert error(lambda: torch.to) == "module 'autogradlab' has no attribute 'to'"
assert error(lambda: torch._private) == "module 'autogradlab' has no attribute '_private'"
assert error(lambda: torch.Tensor.nothing) == "type object 'Tensor' has no attribute 'nothing'"
assert not [m for m in sys.modules if m.startswith("autogradlab.ops.")]
x = torch.Tensor([1])
assert error(lambda: x.nothing) == "'Tensor' object has no attribute 'nothing'"
assert error(lambda: x.cat) == "'Tensor' object has no attribute 'cat'" """,
    "threads": """
import threading, autogradlab as torch
def product(): return (torch.Tensor([2, 3]) * 4).sum().item()
def gradient():
    x = torch.Tensor([2, 3]).requires_grad_()
    (x * x).mean().backward()
    return x.grad.sum().item()
def functions(): return torch.softmax(torch.arange(4.0), 0).sum().round().item()
def layers():
    by_nn = torch.nn.functional.gelu(torch.zeros(2)).sum()
    return (by_nn + torch.conv1d(torch.ones(1, 1, 3), torch.ones(1, 1, 2)).sum()).item()
def ordered(): return torch.sort(torch.Tensor([3, 1, 2]))[0][0].item()
work, found, start = [product, gradient, functions, layers, ordered] * 4, {}, threading.Barrier(20)
def run(i):
    start.wait()
    found[i] = work[i]()
threads = [threading.Thread(target=run, args=(i,)) for i in range(20)]
[t.start() for t in threads]
[t.join() for t in threads]
assert [found.get(i) for i in range(20)] == [20, 5, 1, 4, 1] * 4, found""",
}


@pytest.mark.parametrize("what", FIRST)
def test_what_a_program_does_first(what):
    run(FIRST[what])


def test_a_pickled_tensor_is_the_first_thing_a_program_sees():
    data = pickle.dumps(torch.arange(3.0)).hex()
    read = run("import pickle, sys; print(pickle.loads(bytes.fromhex(sys.argv[1])).tolist())", data)
    assert read == "[0.0, 1.0, 2.0]\n"


# The class ------------------------------------------------------------------------------------------------------------


def test_stand_ins_give_way_when_one_is_asked():
    class Kind:
        pass

    try:
        for name in ("late_one", "late_two"):
            late.methods.files[name] = "autogradlab.late"
            late.methods.bound[name] = lambda self: 5
            setattr(Kind, name, late.StandIn(Kind, name))
        assert Kind().late_one() == 5
        for name in ("late_one", "late_two"):  # what one file binds takes its places together
            assert vars(Kind)[name] is late.methods.bound[name]
    finally:
        for names in (late.methods, late.methods.files, late.methods.bound):
            names.pop("late_one", None)
            names.pop("late_two", None)


def test_what_a_class_has_already_is_not_replaced():
    class Kind:
        def relu(self):
            return 5

    with pytest.raises(TypeError, match="relu exists already"):
        late.install(Kind)


def test_a_file_binds_each_operator_once():
    """Only another file's is refused while programs run: a file may be read again after an interrupt."""
    run(
        """
from autogradlab import late
from autogradlab.ops import kinds
import autogradlab.table as table
class Once(dict):
    def __setitem__(self, name, op):
        assert name not in self, f"{name} is bound twice"
        super().__setitem__(name, op)
late.operators.bound = table.operators = Once(table.operators)
late.load_all()
assert len(table.operators) > 200
"""
    )
