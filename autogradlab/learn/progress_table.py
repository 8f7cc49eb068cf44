"""Progress as a table with a bar for each chapter: in a notebook, and as text."""

from dataclasses import dataclass
from html import escape

from autogradlab.files import Stop, course_root

from .panel import Panel, button, note, row
from .progress import load, questions

HEAD = ["", "chapter", "predictions", "quiz", "exercise"]
STATIC = "What you have done, chapter by chapter (work/progress.json)"


@dataclass
class Row:
    """One chapter: what of it is done."""

    chapter: str
    predictions: tuple[int, int, int]  # answered, right, in all
    quiz: tuple[int, float, int]  # answered, points, in all
    exercise: str

    @property
    def done(self) -> int:
        return self.predictions[0] + self.quiz[0]

    @property
    def of(self) -> int:
        return self.predictions[2] + self.quiz[2]

    @property
    def share(self) -> float:
        return self.done / self.of if self.of else 0.0

    def cells(self) -> list[str]:
        """Chapter, predictions, quiz, exercise, in words."""
        (made, right, asked), (answered, points, of) = self.predictions, self.quiz
        return [
            self.chapter,
            f"{made} of {asked}, {right} right" if asked else "-",
            f"{answered} of {of}, {points:g} point{'s' * (points != 1)}" if of else "-",
            self.exercise or "-",
        ]


def rows() -> list[Row]:
    """Every chapter of the course that asks something, with what was done in it.  Stop if the file cannot be read."""
    done = load()
    exercises = {path.parent.name for path in (course_root() / "exercises").glob("*/*/*.ipynb")}
    return [
        _row(name, asked, done.get(name, {}), name in exercises)
        for name, asked in questions(course_root()).items()
        if asked["predictions"] or asked["quiz"]
    ]


def _row(name: str, asked: dict, done: dict, has_exercise: bool) -> Row:
    made = [a for q, a in done.get("predictions", {}).items() if q in asked["predictions"]]
    answered = [a for q, a in done.get("quiz", {}).items() if q in asked["quiz"]]
    right, points = sum(bool(a.get("right")) for a in made), sum(float(a.get("points", 0)) for a in answered)
    facts = done.get("exercise", {})
    words = [f"{facts['checked']} pass"] if "checked" in facts else []
    words += [f"handed in {facts['submitted']}"] if "submitted" in facts else []
    return Row(
        name,
        (len(made), right, len(set(asked["predictions"]))),
        (len(answered), points, len(set(asked["quiz"]))),
        ", ".join(words) or ("not checked yet" if has_exercise else ""),
    )


def bar(share: float, width: int = 10) -> str:
    """A bar of characters: [####......]."""
    full = int(share * width)
    return f"[{'#' * full}{'.' * (width - full)}]"


def text() -> str:
    """The table as text, with bars and a last line for the whole course."""
    found = rows()
    lines = [[bar(r.share), *r.cells()] for r in found]
    widths = [max(len(line[i]) for line in [HEAD, *lines]) for i in range(len(HEAD))]
    shown = ["  ".join(c.ljust(w) for c, w in zip(line, widths, strict=True)).rstrip() for line in [HEAD, *lines]]
    done, of = sum(r.done for r in found), sum(r.of for r in found)
    return "\n".join([*shown, f"{bar(done / of if of else 0)}  {done} of {of} questions answered in all"])


def _html() -> str:
    try:
        found = rows()
    except Stop as reason:
        return f"<p>{escape(str(reason))} Mend or move it; the next answer begins a new one and keeps it.</p>"
    head = "".join(f'<th scope="col" style="text-align:left">{word}</th>' for word in ["done", *HEAD[1:]])
    cell = '<td style="padding-right:16px">'
    body = "".join(
        f'<tr><td><progress max="{r.of}" value="{r.done}" aria-label="{escape(r.chapter)}: {r.done} of {r.of}">'
        f"</progress></td>{''.join(f'{cell}{escape(c)}</td>' for c in r.cells())}</tr>"
        for r in found
    )
    return f'<table aria-label="Your progress"><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>'


def show_progress() -> Panel:
    """What you have done, as a table with a bar for each chapter.  In a terminal: python3 course.py progress."""
    table, press = note(_html()), button("Look again")

    def again(_) -> None:
        table.value = _html()

    press.on_click(again)
    static = f"<p>{STATIC}. <i>(run this cell to see it)</i></p>"
    return Panel([table, row([press])], text=STATIC, static=static)
