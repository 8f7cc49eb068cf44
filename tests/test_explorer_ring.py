"""The explorer of a ring all-reduce: every chunk is the whole sum at the end, on every rank, with the fewest bytes."""

import pytest

from autogradlab.learn.explorers.ring import LEAST, MOST, Ring, explore_ring, picture, said


@pytest.mark.parametrize("n", range(LEAST, MOST + 1))
def test_all_ranks_have_all_sums_after_the_last_round_and_not_before(n):
    ring = Ring(n)
    assert ring.held(ring.rounds) == [[frozenset(range(n))] * n] * n
    assert ring.held(ring.rounds - 1) != ring.held(ring.rounds)
    owners = [[len(whose) == n for whose in chunks].index(True) for chunks in ring.held(n - 1)]
    assert sorted(owners) == list(range(n)), "after the adding rounds each rank owns one sum"


def test_words_and_picture_say_the_same():
    ring = Ring(3)
    assert said(ring, 0).splitlines()[1] == "chunk 0:  0      1      2"
    assert said(ring, 1).splitlines()[1:] == ["chunk 0:  0      0+1    2", "chunk 1:  0      1      1+2",
                                              "chunk 2:  0+2    1      2"]  # fmt: skip
    assert "every rank has every sum" in said(ring, 4) and "4/3 of its bytes" in said(ring, 4)
    drawn = picture(ring, 2)
    assert drawn.svg.count(">sum<") == 3 == drawn.svg.count('stroke-width="3"') and "round 2 of 4" in drawn.alt


def test_moving_it():
    panel = explore_ring(4)
    line, shown, words = panel.children[:3]
    slided, many = line.children
    rounds = slided.children[0]
    rounds.value = 6
    assert "every rank has every sum" in words.value and shown.value.count(">sum<") == 16
    many.value = 2
    assert rounds.value == 2 and "2 ranks, round 2 of 2" in words.value
    assert "4 ranks, round 0 of 6: nothing sent yet" in repr(panel)


@pytest.mark.parametrize("wrong", [1, 7, "4", 2.0])
def test_bad_numbers_of_ranks(wrong):
    with pytest.raises(ValueError, match="expected 2 to 6 ranks"):
        explore_ring(wrong)
