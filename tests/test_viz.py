"""Pictures: their text, what they show and leave out, and that they can be drawn or say why not."""

import re
from pathlib import Path

import pytest

import autogradlab as torch
from autogradlab import viz
from autogradlab.viz import dot


def example():
    w = torch.tensor([2.0, 3.0], requires_grad=True)
    x = torch.tensor([1.0, 4.0])
    return w, (w * x).sum()


def test_the_text_names_nodes_edges_and_what_is_saved():
    w, z = example()
    assert str(viz.make_dot(z, params={"w": w}, show_saved=True)) == (
        "Graph of 2 functions and 1 leaf.\n"
        "output: float32 () <- 1 SumBackward0\n"
        "  1 SumBackward0 <- 2 MulBackward0\n"
        "  2 MulBackward0 <- leaf w: float32 (2,); 1 constant\n"
        "      saved other: float32 (2,), 8 bytes"
    )


def test_the_text_is_the_same_every_time():
    assert str(viz.make_dot(example()[1])) == str(viz.make_dot(example()[1]))


def test_what_was_freed_is_said():
    w, z = example()
    z.backward()
    assert "saved other: freed by backward" in str(viz.make_dot(z, params={"w": w}, show_saved=True))


def test_a_leaf_used_twice_is_one_box_and_views_show_their_base():
    x = torch.arange(6.0, requires_grad=True)
    y = x * x
    text = str(viz.make_dot({"v": y.view(2, 3)[0]}, params={"x": x, "y": y}))
    assert "v: float32 (3,) <- 1 SelectBackward0; a view of y: float32 (6,)" in text
    assert "3 MulBackward0 <- leaf x: float32 (6,); leaf x: float32 (6,)" in text and "and 1 leaf." in text


def test_every_kind_has_its_own_outline_and_a_legend():
    x = torch.arange(6.0, requires_grad=True)
    source = viz.make_dot((x * 2).exp()[0:2], show_saved=True).source
    outlines = list(dot.SHAPES.values())
    assert len(set(outlines)) == len(outlines), "told apart without colour"
    for kind in ("leaf", "function", "output", "saved", "base"):
        assert dot.SHAPES[kind] in source and dot.MEANINGS[kind] in source
    assert "Legend" not in viz.make_dot(x * 2, legend=False).source


def test_a_huge_graph_is_cut_without_recursion():
    x = torch.tensor(1.0, requires_grad=True)
    y = x
    for _ in range(100_000):
        y = y + 1
    drawn = viz.make_dot(y, max_nodes=50)
    assert "... 99,950 more" in str(drawn) and "Graph of 100,000 functions" in str(drawn)
    assert len(drawn.drawing.boxes) == 52


def test_the_notebook_form_has_a_picture_with_alt_text_and_the_words():
    w, z = example()
    bundle = viz.make_dot(z)._repr_mimebundle_()
    assert set(bundle) == {"text/html", "text/plain"}
    assert re.match(r'<svg role="img" aria-label="Graph of 2 functions and 1 leaf."', bundle["text/html"])


@pytest.mark.skipif(dot.renderer() is None, reason="needs Graphviz or pygraphviz, which the course's environment has")
def test_render_writes_a_file(tmp_path):
    path = viz.make_dot(example()[1]).render(str(tmp_path / "deep" / "graph"), format="png")
    assert Path(path).read_bytes().startswith(b"\x89PNG")


def test_without_graphviz_the_same_keys_and_the_way_to_get_it(monkeypatch, tmp_path):
    monkeypatch.setattr(dot, "renderer", lambda: None)
    drawn = viz.make_dot(example()[1])
    bundle = drawn._repr_mimebundle_()
    assert set(bundle) == {"text/html", "text/plain"} and "install Graphviz" in bundle["text/html"]
    with pytest.raises(RuntimeError, match="pip install pygraphviz"):
        drawn.render(str(tmp_path / "graph"))
    assert Path(drawn.render(str(tmp_path / "graph"), format="dot")).read_text().startswith("digraph")


def test_names_are_quoted_in_dot():
    w, z = example()
    source = viz.make_dot({'a "b" \\': z}, params={'w"': w}).source
    assert 'label="a \\"b\\" \\\\' in source


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: viz.make_dot(3), TypeError, "not iterable|must be a Tensor"),
        (lambda: viz.make_dot({"a": 3}), TypeError, "a must be a Tensor, not int"),
        (lambda: viz.make_dot(example()[1], max_nodes=0), ValueError, "at least 1"),
        (lambda: viz.storage(), TypeError, "at least one tensor"),
        (lambda: viz.storage([1]), TypeError, "expected Tensors, got list"),
        (lambda: viz.storage(torch.ones(2), torch.ones(2)), ValueError, "do not share a storage"),
        (lambda: viz.storage(torch.ones(2), names=["a", "b"]), ValueError, "1 tensors need 1 names"),
    ],
)
def test_mistakes_are_named(call, error, words):
    with pytest.raises(error, match=words):
        call()


def test_a_tensor_over_its_storage():
    a = torch.arange(12).reshape(3, 4)
    shown = viz.storage(a, a[1:, ::2], names=["a", "part"])
    assert str(shown).splitlines() == [
        "storage of 12 cells: 0 1 2 3 4 5 6 7 8 9 10 11",
        "a: shape (3, 4)  stride (4, 1)  offset 0  contiguous",
        "   visits cells 0 1 2 3 4 5 6 7 8 9 10 11",
        "part: shape (2, 2)  stride (4, 2)  offset 4  not contiguous",
        "   visits cells 4 6 8 10",
    ]
    assert "aria-label" in shown.html and "<rect" in shown.svg


def test_a_long_storage_is_cut_and_an_empty_one_can_be_shown():
    assert "... 52 more" in str(viz.storage(torch.arange(100)))
    assert "it is empty" in str(viz.storage(torch.zeros(0)))
    assert str(viz.storage(torch.arange(3, device="sim"))) == str(viz.storage(torch.arange(3)))


def test_a_picture_can_be_saved(tmp_path):
    path = viz.storage(torch.arange(3)).save(tmp_path / "strip.svg")
    assert path.read_text(encoding="utf-8").startswith("<svg")


def test_a_compiled_program_before_and_after():
    from autogradlab import nn

    def f(x):
        return (x * 2 + 1).tanh().sum()

    compiled = torch.compile(f)
    with pytest.raises(ValueError, match="call it once"):
        viz.program(compiled)
    compiled(torch.ones(3))
    before, after = viz.program(compiled.explain().before[0]), viz.program(compiled)
    assert "mul 2" in before.source and "one kernel:" not in before.source and "4 kernels" in str(before)
    assert "one kernel:" in after.source and "3. tanh" in after.source and "2 kernels" in after.alt
    model = torch.compile(nn.Linear(2, 2))
    model(torch.ones(1, 2))
    assert "addmm" in viz.program(model).source and "from outside" in viz.program(model).source
    with pytest.raises(TypeError, match="expected a Program or a compiled function, not int"):
        viz.program(3)


def test_a_chart_is_a_picture_in_the_courses_font_with_its_words():
    figure, ax = viz.axes(4, 2)
    (first,), (second,) = ax.plot([3, 1, 2], label="a"), ax.plot([1, 2, 3], label="b")
    ax.legend()
    assert first.get_linestyle() != second.get_linestyle() and first.get_color() != second.get_color()
    shown = viz.chart(figure, alt="Two curves that cross.")
    assert str(shown) == "Chart: Two curves that cross."
    assert 'aria-label="Two curves that cross."' in shown.html and "Helvetica" in shown.html
    assert "<style" not in shown.html and "DejaVu" not in shown.html  # a style rule would reach the whole page
    assert viz.chart(figure, alt="Two curves that cross.").svg == shown.svg  # the same every time


def test_a_chart_without_words_or_figure_is_refused():
    figure, _ = viz.axes()
    with pytest.raises(ValueError, match="alt must say in words"):
        viz.chart(figure, alt=" ")
    with pytest.raises(TypeError, match="expected a Matplotlib figure, got list"):
        viz.chart([1, 2], alt="numbers")
