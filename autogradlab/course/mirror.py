"""Which chapter mirrors which sections of which document: the course's table of contents."""

from typing import NamedTuple


class Chapter(NamedTuple):
    number: str
    title: str
    document: str
    sections: tuple[str, ...]


PARTS = {
    1: "Tensors and autograd",
    2: "Inside the framework",
    3: "The backward engine",
    4: "Autograd in practice",
    5: "Production training",
}

_TABLE = """
01 | Tensors: create, inspect, compute | D1 1.1 1.2 1.3
02 | Indexing: views and copies | D1 2.1 2.2 2.3
03 | Shapes and strides | D1 3.1 3.2 3.3 3.4 3.5
04 | Broadcasting | D1 4.1 4.2
05 | Devices and dtypes | D1 5.1 5.2 5.3 5.4
06 | Autograd: graph, leaves, backward, accumulation | D1 6.1 6.2 6.3 6.4 6.5
07 | Switching gradients off, and five pitfalls | D1 6.6 6.7
08 | Gradient descent from nothing | D1 7
09 | The case of the missing gradient | D2 1.1 1.2 6.1
10 | Tensor and Storage | D2 2.1 2.2 2.3
11 | Building the graph | D2 3.1 3.2 3.3
12 | Running it backwards: order, accumulation, higher order | D2 4.1 4.2 4.3
13 | From call to kernel: dispatch, fusion, custom operators | D2 5.1 5.2 5.3
14 | Versions, freed buffers and memory | D2 6.2 6.3
15 | The engine at work: traversal, ready queue, hooks | D3 1.1 1.2
16 | Gradient formulas, derived and checked | D3 2.1 2.2
17 | Configuring and extending backward | D3 3.1 3.2
18 | Mixed precision and several processes, first contact | D3 4.1 4.2
19 | Diagnosing training: vanishing, exploding, leaks | D3 5.1 5.2 5.3
20 | Tracing, fusing, custom derivative rules | D3 6.1 6.2
21 | Three steps: graph, backward, gradient check | D4 1 2.1 2.2 2.3
22 | Engineering decisions: what to record, recompute, accumulate | D4 3.1 3.2 3.3
23 | Seeing gradients: graph pictures, hooks, a fault table | D4 4.1 4.2 4.3
24 | A graph that broke in production | D5 1 2
25 | One training step with everything in it | D5 3
26 | The price of autograd: memory, checkpointing, in-place | D5 4.1 4.2
27 | Many processes: when gradients meet | D5 4.3
28 | Where autograd does not belong, and the capstone | D5 4.4 5
"""


def _read(line: str) -> Chapter:
    number, title, place = (part.strip() for part in line.split("|"))
    document, *sections = place.split()
    return Chapter(number, title, document, tuple(sections))


CHAPTERS = {chapter.number: chapter for chapter in map(_read, _TABLE.strip().splitlines())}


def chapter_of(stem: str) -> Chapter | None:
    """The chapter a notebook named like 03_shapes_and_strides holds; None for 00_start_here and the like."""
    return CHAPTERS.get(stem.partition("_")[0])
