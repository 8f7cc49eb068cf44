"""What the notebooks import beside the engine: questions and their replies, quizzes, sources; chapter 00's table."""

import json
import re
import subprocess
import sys
from html import escape
from urllib.parse import unquote

import ipywidgets as widgets
import pytest
from panels import every, said

import autogradlab as torch
from autogradlab import shapes
from autogradlab.course.mirror import chapter_of
from autogradlab.course.notebooks import FOLDER, find, read
from autogradlab.learn import ask, check_answer, formulas, predict, quiz, show_source
from autogradlab.learn import panel as panel_parts
from autogradlab.learn.questions import Question, Unreadable, number_parser, same, tuple_parser
from autogradlab.learn.quizzes import Attempt

# Reading what was typed.


@pytest.mark.parametrize(
    ("typed", "value"),
    [("12", 12), (" 1,536 ", 1536), ("1 536", 1536), ("1_536", 1536), ("-3", -3), ("0.25", 0.25), ("1.5e3", 1500)],
)
def test_numbers_as_people_type_them(typed, value):
    assert number_parser()(typed) == value


def test_a_number_may_have_its_unit_and_no_other():
    assert number_parser("bytes")("8,000 bytes") == 8000
    with pytest.raises(Unreadable, match="not a number"):
        number_parser("bytes")("8 kilobytes")


@pytest.mark.parametrize("typed", ["", "twelve", "1,5,3", "1.2.3", "(3)"])
def test_what_is_no_number_is_refused(typed):
    with pytest.raises(Unreadable, match="type digits"):
        number_parser()(typed)


@pytest.mark.parametrize("typed", ["(4, 1)", "4,1", "[4, 1]", "torch.Size([4, 1])", " 4 , 1 ", "(4, 1,)"])
def test_tuples_with_or_without_brackets(typed):
    assert tuple_parser(2)(typed) == (4, 1)


def test_tuples_of_one_number_and_of_none():
    assert tuple_parser(None)("(3,)") == (3,) and tuple_parser(None)("()") == ()


@pytest.mark.parametrize(("typed", "why"), [("4", "1 number; 2"), ("4, 1, 2", "3 numbers"), ("4; 1", "whole numbers")])
def test_tuples_of_another_length_or_kind_are_refused(typed, why):
    with pytest.raises(Unreadable, match=why):
        tuple_parser(2)(typed)


@pytest.mark.parametrize(
    ("a", "b", "equal"),
    [
        ("Only  W ", "only w", True),
        (0.3333, 1 / 3, True),
        (0.33, 1 / 3, False),
        (0, 0, True),
        (1e-9, 0, False),
        (True, 1, False),
        (float("nan"), 1, False),
        ((4, 1), (4, 1), True),
        ("4", 4, False),
    ],
)
def test_what_counts_as_the_same_answer(a, b, equal):
    assert same(a, b) is equal


def test_a_reply_names_the_answer_and_knows_particular_mistakes():
    question = Question("strides?", (1, 4), "They change places.", {(4, 1): "Those are a's."}, tuple_parser(2))
    assert question.reply("1, 4").right
    mistake = question.reply("(4, 1)")
    assert not mistake.right and mistake.text == "Not quite: you said (4, 1); the answer is (1, 4). Those are a's."
    assert question.reply("(9, 9)").text.endswith("the answer is (1, 4).")
    words = Question("what then?", "it raises", "No stride says it.")
    assert words.reply("it copies").text == 'Not quite: you said "it copies"; the answer is "it raises".'


# Predict cells.


def parts(panel, kind):
    found = [c for c in panel.children if isinstance(c, kind)]
    return found + [w for c in panel.children if hasattr(c, "children") for w in parts(c, kind)]


def spoken(panel) -> str:
    return " ".join(w.value for w in parts(panel, widgets.HTML))


def test_a_prediction_is_answered_only_after_one_was_given():
    panel = predict.number("How many bytes?", answer=8000, unit="bytes", why="Two of <4,000>.")
    (entry,), (press,) = parts(panel, widgets.Text), parts(panel, widgets.Button)
    press.click()
    assert "8,000" not in spoken(panel) and "first" in spoken(panel)
    entry.value = "lots"
    press.click()
    assert "8,000" not in spoken(panel) and "type digits" in spoken(panel)
    entry.value = "4000"
    press.click()
    assert "✗" in spoken(panel) and "8,000 bytes" in spoken(panel) and "&lt;4,000&gt;" in spoken(panel)
    entry.value = "8000 bytes"
    press.click()
    assert "✓" in spoken(panel)


def test_enter_checks_and_another_answer_takes_the_old_reply_away():
    panel = predict.tuple("Strides?", answer=(4, 1), why="Rows first.")
    (entry,) = parts(panel, widgets.Text)
    assert entry.continuous_update is False  # so that its value changes with Enter
    entry.value = "(4, 1)"
    assert "✓" in spoken(panel)
    entry.value = ""
    assert "✓" not in spoken(panel) and "Rows first" not in spoken(panel)
    choices = predict.choice("Copy?", ["yes", "no"], answer="no", why="A view.")
    (options,), (press,) = parts(choices, widgets.RadioButtons), parts(choices, widgets.Button)
    options.value = "yes"
    press.click()
    assert "✗" in spoken(choices)
    options.value = "no"
    assert "✗" not in spoken(choices) and "✓" not in spoken(choices)


def test_a_choice_starts_without_one_and_its_answer_must_be_there():
    panel = predict.choice("Copy?", ["yes", "no"], answer="no", why="A view.")
    (options,), (press,) = parts(panel, widgets.RadioButtons), parts(panel, widgets.Button)
    assert options.value is None
    options.value = "no"
    press.click()
    assert "✓" in spoken(panel)
    with pytest.raises(ValueError, match="not among the options"):
        predict.choice("Copy?", ["yes", "no"], answer="maybe", why="")


@pytest.mark.parametrize(
    "panel",
    [
        predict.choice("A & B?", ["x < y", "none"], answer="none", why="w"),
        predict.tuple("A & B?", answer=(1,), why="w"),
        predict.text("A & B?", answer="none", why="w"),
        quiz(ask("A & B?", right=("x < y", "w"), wrong={"none": "no"})),
    ],
    ids=["choice", "tuple", "text", "quiz"],
)
def test_without_a_kernel_the_question_stands_there_with_its_answer_folded(panel):
    bundle = panel._repr_mimebundle_()
    data = bundle[0] if isinstance(bundle, tuple) else bundle
    html = data["text/html"]
    assert "A &amp; B?" in html and "<details>" in html and "x < y" not in html
    assert "A & B?" in data["text/plain"] and "w" not in data["text/plain"].split()


# Quizzes.


def items():
    return [
        ask("one?", right=("a", "because a"), wrong={"b": "not b", "c": "not c"}),
        ask("two?", right=("d", "because d"), wrong={"e": "not e"}),
    ]


def test_full_points_at_once_half_after_a_retry_none_after_two():
    attempt = Attempt(items())
    assert attempt.answer(0, "a") == (True, "because a")
    assert attempt.answer(1, "e") == (False, "not e Try once more.")
    assert attempt.answer(1, "d") == (True, "because d")
    assert attempt.score().startswith("2 of 2 answered, 1.5 of 2 points")
    other = Attempt(items())
    other.answer(0, "b")
    assert other.answer(0, "c") == (False, "not c The answer is: a. because a")
    assert other.answer(0, "a")[0] and other.score().startswith("1 of 2 answered, 0 of 2")


def test_the_order_of_choices_is_stable_and_does_not_give_the_answer_away():
    many = [ask(f"question {i}?", right=("right", "r"), wrong={"x": "x", "y": "y"}) for i in range(60)]
    places = [item.options().index("right") for item in many]
    assert {*places} == {0, 1, 2} and max(places.count(p) for p in range(3)) < 35
    assert many[0].options() == ask("question 0?", right=("right", "r"), wrong={"y": "y", "x": "x"}).options()


@pytest.mark.parametrize(
    ("right", "wrong", "message"),
    [
        (("a", "w"), {}, "needs wrong choices"),
        (("a", "w"), {"a": "no"}, "differ"),
        (("a", " "), {"b": "no"}, "own explanation"),
        (("a", "w"), {"b": ""}, "own explanation"),
    ],
)
def test_a_question_without_explanations_is_refused(right, wrong, message):
    with pytest.raises(ValueError, match=message):
        ask("one?", right=right, wrong=wrong)


def test_a_quiz_needs_a_question():
    with pytest.raises(ValueError, match="at least one"):
        quiz()


def test_a_quiz_shows_the_score_as_it_is_answered():
    panel = quiz(*items())
    entries, buttons = parts(panel, widgets.RadioButtons), parts(panel, widgets.Button)
    buttons[0].click()
    assert "Choose one first" in spoken(panel)
    entries[0].value = "a"
    buttons[0].click()
    assert "because a" in spoken(panel) and "1 of 2 answered, 1 of 2 points" in spoken(panel)


def test_another_choice_takes_back_what_was_said_of_the_last():
    panel = quiz(*items())
    entries, buttons = parts(panel, widgets.RadioButtons), parts(panel, widgets.Button)
    entries[0].value = "b"
    buttons[0].click()
    assert "not b" in spoken(panel)
    entries[0].value = "c"
    assert "not b" not in spoken(panel)


# Small tasks.


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (None, "Not done yet"),
        (torch.tensor([1.0, 2.0]), "Right"),
        (torch.tensor([1.0, 2.0], requires_grad=True), "Right"),
        ([1, 2], "Right"),
        (torch.tensor([[1.0, 2.0]]), r"should be \(2,\); it is \(1, 2\)"),
        (torch.zeros(2), "the values are not"),
        ("1, 2", "type str"),
        (torch.Tensor, "of type"),
    ],
)
def test_a_task_is_answered_in_words(given, said):
    assert re.search(said, check_answer(given, torch.tensor([1.0, 2.0])))


def test_a_number_that_is_wrong_is_named():
    assert check_answer(19, torch.tensor(19.0)) == "Right."
    assert check_answer(18, torch.tensor(19.0)) == "Not yet: 18 is not the number."


def test_without_a_copy_means_the_same_memory():
    x = torch.arange(6).reshape(2, 3)
    assert check_answer(x.t(), x.t(), shares_with=x) == "Right."
    assert "copied" in check_answer(x.t().contiguous(), x.t(), shares_with=x)


# Sources.


def test_the_source_of_an_operator_is_its_block():
    shown = show_source(torch.mul)
    assert "class mul" in shown.code and "def grad_a" in shown.code
    assert repr(shown).startswith("# autogradlab/ops/pointwise.py\n")
    assert re.search(r"`, line \d+\n```python\n", shown._repr_mimebundle_()["text/markdown"])


def test_a_part_of_it_alone():
    code = show_source(torch.mul, "grad_a").code
    assert code.startswith("def grad_a") and "kernel" not in code
    with pytest.raises(AttributeError, match=r"no part 'grad_c'; it has .*grad_a"):
        show_source(torch.mul, "grad_c")


def test_functions_and_classes_of_the_engine_too():
    assert "def contiguous_strides" in show_source(shapes.contiguous_strides).code
    assert show_source(torch.Tensor).file == "autogradlab/tensor.py"


@pytest.mark.parametrize("thing", [len, 3, "text"])
def test_what_has_no_source_is_refused(thing):
    with pytest.raises(TypeError, match="no Python source"):
        show_source(thing)


# Imports, and the page everyone begins with.


def test_the_checks_and_the_doctor_need_no_widgets():
    program = "import sys, autogradlab.learn.doctor, autogradlab.learn.checks; print('ipywidgets' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert (done.stdout.strip(), done.stderr) == ("False", "")


def links(path) -> dict[str, str]:
    text = "\n".join(cell.source for cell in read(path).cells if cell.cell_type == "markdown")
    return {target: said for said, target in re.findall(r"(?<!!)\[([^\]]+)\]\(([^)\s]+)\)", text)}


def test_start_here_lists_every_chapter_that_exists():
    there = {p.relative_to(FOLDER).as_posix() for p in find() if chapter_of(p.stem)}
    listed = links(FOLDER / "00_start_here.ipynb")
    assert there == {target for target in listed if target.endswith(".ipynb")}
    for target in there:
        number = chapter_of(target.rpartition("/")[2]).number
        assert number in listed[target], f"the link to {target} is called {listed[target]!r}"


@pytest.mark.parametrize("path", find(), ids=lambda path: path.stem)
def test_links_between_notebooks_lead_somewhere(path):
    for target in links(path):
        if not re.match(r"[a-z]+:|#", target):
            assert (path.parent / unquote(target.partition("#")[0])).exists(), target


@pytest.mark.parametrize("path", find(), ids=lambda path: path.stem)
def test_stored_answers_are_folded(path):
    for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
        if "".join(cell["source"]).startswith(("predict.", "quiz(")):
            html = "".join(cell["outputs"][0]["data"]["text/html"])
            assert "<details>" in html and "<details open" not in html


# Formulas.


def test_formulas_are_mathml_and_dollars_are_dollars():
    shown = formulas.html("Is $x^2$ < $y$? It costs $5 and $6.")
    assert shown.count("<math") == 2 and "<msup>" in shown and "&lt;" in shown and "$5 and $6" in shown
    assert formulas.html(r"$\notaformula{$") == escape(r"$\notaformula{$")
    kept = formulas.in_markdown("`$HOME$` and $$a_i$$\n```\n$x$\n```")
    assert "`$HOME$`" in kept and "\n$x$\n" in kept and 'display="block"' in kept


def test_a_quiz_with_formulas_offers_letters_and_explains_in_formulas():
    panel = quiz(ask("What is $f'$?", right=("$2x$", "Since $f = x^2$."), wrong={"$x$": "Not $x$."}))
    (entry,) = every(panel, widgets.RadioButtons)
    assert [label for label, _ in entry.options] == ["(a)", "(b)"]
    assert "<math" in said(panel) and "<math" in panel.static and "$2x$" in repr(panel)
    entry.value = "$2x$"
    every(panel, widgets.Button)[0].click()
    assert "✓ Right." in said(panel) and "<msup>" in said(panel)


# Tracebacks.

IN_IPYTHON = """
from IPython.testing.globalipapp import start_ipython
run = start_ipython().run_cell
run("import autogradlab as torch, numpy; from autogradlab.learn import predict")
for cell in ("def f(x): return x.view(5)\\nf(torch.ones(6))", "torch.ones(2) + object()", "numpy.zeros(2).reshape(3)",
             "class M(torch.nn.Module):\\n    def forward(self, x): return f(x)\\nM()(torch.ones(6))",
             "%tb", "f(torch.ones(4))", "%tb"):
    run(cell)
    print("====")
"""


def test_a_red_box_ends_with_the_readers_code_and_tb_shows_the_engines():
    done = subprocess.run([sys.executable, "-c", IN_IPYTHON], capture_output=True, text=True, check=True, cwd=FOLDER)
    view, plus, numpys, module, _, again, whole, _ = done.stdout.split("====")
    for shown in (view, plus, module, again):
        assert "Error" in shown and "autogradlab/" not in shown, shown
    assert "in M.forward(self, x)" in module and "in f(x)" in view and "reshape" in numpys
    assert "in f(x)" in whole and "autogradlab/shapes.py" in whole


# Entries and their sliders.


@pytest.mark.parametrize(
    ("entry", "trait", "moved", "then"),
    [
        (panel_parts.whole("n", 3, 0, 9), "value", 7, 7),
        (panel_parts.number("x", 0.5, -1.0, 1.0, 0.25), "value", -0.25, -0.25),
        (panel_parts.one_of("rate", [("2^0", 0), ("2^4", 4), ("2^8", 8)], 4), "index", 2, 2),
    ],
    ids=["whole", "number", "choice"],
)
def test_a_slider_and_its_entry_move_each_other(entry, trait, moved, then):
    line = panel_parts.slid(entry)
    own, slider = line.children
    assert own is entry and entry.description and not slider.readout
    slider.value = moved
    assert getattr(entry, trait) == then
    setattr(entry, trait, own.traits()[trait].default_value or 0)
    assert slider.value == getattr(entry, trait)
