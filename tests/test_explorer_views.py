"""The explorer of views made by hand: what it says agrees with the cells counted one by one."""

import itertools
import random

import ipywidgets as widgets
from panels import every, said

from autogradlab.learn.explorers.views import CELLS, View, explore_view


def cells(shape, stride, offset):
    return [offset + i * stride[0] + j * stride[1] for i, j in itertools.product(*map(range, shape))]


def test_what_is_said_of_random_views_is_what_counting_gives():
    rng, refused = random.Random(0), 0
    for _ in range(200):
        shape = rng.randint(1, 4), rng.randint(1, 6)
        stride, offset = (rng.randint(0, 6), rng.randint(0, 4)), rng.randint(0, 6)
        view, visited = View(shape, stride, offset), cells(shape, stride, offset)
        text = view.text()
        assert f"reaches cell {max(visited)} of 0 to 11" in text
        if max(visited) >= CELLS:
            refused += 1
            assert "refused: " in text and f"cell {max(visited)} does not exist" in view.picture()
            continue
        shared = len(visited) - len(set(visited))
        assert (f"{shared} elements lie in cells" in text) == (shared > 0)
        steps = {b - a for a, b in itertools.pairwise(visited)}
        assert ("view(-1) is refused" in text) == (len(steps) > 1)
        assert ("not contiguous" in text) == (steps not in (set(), {1}))
    assert 20 < refused < 180


def test_moving_a_slider_changes_words_and_picture():
    panel = explore_view()
    sliders = {one.description: one for one in every(panel, widgets.BoundedIntText)}
    assert "view(-1) has the stride 1" in said(panel) and "(run this cell to choose" in panel.static
    sliders["row stride"].value, sliders["column stride"].value = 1, 3
    assert "view(-1) is refused" in said(panel)
    sliders["offset"].value = 11
    assert "out of bounds" in said(panel) and "does not exist" in said(panel)
