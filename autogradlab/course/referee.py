"""Grading from outside: the learner's functions are called in their kernel, and judged in this process.

A check that runs in the same process as a submission can be patched by it. So the kernel is only asked what the
functions return, as plain data; what is right is known here alone, where the submission has no way in.
"""

import ast
import random

from jupyter_client.utils import ensure_async, run_sync
from nbclient.exceptions import DeadKernelError
from nbformat.v4 import new_output
from nbgrader.preprocessors import Execute

from autogradlab.learn.checks.ask import Answer, calls, read_answers
from autogradlab.learn.checks.task import Task, is_unwritten, not_written

from .execute import WithinLimits, error_output
from .structure import grade_id, is_check

LONGEST = 5_000_000  # characters of all answers to one task


class Referee(WithinLimits, Execute):
    """nbgrader's Execute within limits; a check cell whose task is known is not run but judged."""

    tasks: dict[str, Task] = {}

    def preprocess(self, nb, resources=None, km=None):
        self.begin()
        return super().preprocess(nb, resources, km)

    async def async_execute_cell(self, cell, cell_index, execution_count=None, store_history=True):
        task = self.tasks.get((grade_id(cell) or "").removeprefix("check_")) if is_check(cell) else None
        if task is None or self._over is not None:
            return await super().async_execute_cell(cell, cell_index, execution_count, store_history)
        cell.execution_count = None
        cell.outputs = [await self._judge(task)]
        return cell

    execute_cell = run_sync(async_execute_cell)

    def on_cell_executed(self, **kwargs):
        WithinLimits.on_cell_executed(self, **kwargs)
        Execute.on_cell_executed(self, **kwargs)

    async def _judge(self, task: Task):
        """The output of a check cell: what the visible and hidden checks say about the function of this name."""
        visible, hidden = list(task.visible), task.hidden_cases(random.Random())
        cases = visible + hidden
        asked = f"{task.name}, {calls([case.args for case in cases])!r}, {task.parameters!r}"
        try:
            answers = await self._ask(f"__import__('autogradlab.learn.checks.ask', fromlist=['ask']).answers({asked})")
        except _NoAnswer as reason:
            text = str(reason)
            if reason.name == "NameError" and f"'{task.name}' is not defined" in text:
                text += f". The cell of task {list(self.tasks).index(task.name) + 1} does not define {task.name}."
            return error_output(reason.name, text)
        if len(answers) != len(cases):
            return error_output("CheckFailed", f"{task.name}: {len(cases)} calls gave {len(answers)} answers.")
        return self._verdict(task, list(zip(cases, answers, strict=True)), len(visible))

    def _verdict(self, task: Task, given: list, visible: int):
        for case, answer in given:
            if is_unwritten(answer):
                return error_output("NotImplementedError", str(not_written(task.name)))
            if message := task.complaint(case, answer):
                return error_output("CheckFailed", message)
        hidden = len(given) - visible
        text = (
            f"{visible} of {visible} visible checks pass.\n{hidden} of {hidden} hidden checks pass ({task.hidden}).\n"
        )
        return new_output("stream", name="stdout", text=text)

    async def _ask(self, expression: str) -> list[Answer]:
        """What the kernel answers; _NoAnswer says why it does not."""
        seconds = self._seconds()
        try:
            request = self.kc.execute("", silent=True, store_history=False, user_expressions={"answers": expression})
            reply = await self._reply_to(await ensure_async(request), seconds)
            if reply is None:
                await ensure_async(self.km.interrupt_kernel())
                if not await self._listens():
                    await self._start_again()
                raise _NoAnswer("Stopped", f"A call ran longer than {seconds:.0f} s and was stopped: an endless loop?")
        except DeadKernelError:
            await self._start_again()
            raise _NoAnswer("Ended", "The function ended the Python process it ran in.") from None
        result = reply["content"].get("user_expressions", {}).get("answers", {})
        if result.get("status") == "error":
            raise _NoAnswer(str(result.get("ename")), f"{result.get('ename')}: {result.get('evalue')}")
        try:
            text = result["data"]["text/plain"]
            if len(text) > LONGEST:
                raise ValueError("too long")
            return read_answers(ast.literal_eval(text))
        except (KeyError, TypeError, ValueError, SyntaxError, RecursionError, MemoryError):
            text = "What the function returned could not be read: has the notebook changed Python itself?"
            raise _NoAnswer("CheckFailed", text) from None


class _NoAnswer(Exception):
    def __init__(self, name: str, text: str) -> None:
        super().__init__(text)
        self.name = name
