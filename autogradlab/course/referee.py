"""Grading from outside: the learner's functions are called in their kernel, and judged in this process.

A check that runs in the same process as a submission can be patched by it. So the kernel is only asked what the
functions return, as plain data; what is right is known here alone, where the submission has no way in.
"""

import ast
import random
import sys
import time

from jupyter_client.manager import AsyncKernelManager
from jupyter_client.utils import ensure_async, run_sync
from nbclient.exceptions import DeadKernelError
from nbformat.v4 import new_output
from nbgrader.preprocessors import Execute

from autogradlab.learn.checks.ask import Answer, calls, read_answers
from autogradlab.learn.checks.task import Task, is_unwritten, not_written

from . import cage
from .execute import WithinLimits, error_output
from .grading_library import START
from .structure import grade_id, is_check

LONGEST = 5_000_000  # characters of all answers to one task
ASK = (
    f"(lambda told: told if len(told) <= {LONGEST} else 'too long')"
    "(__import__('autogradlab.learn.checks.ask', fromlist=['ask']).answers({}))"
)


class Apart(AsyncKernelManager):
    """Starts a kernel in its cage; where that has no network, the two talk through files in the kernel's folder."""

    job = None  # whose kernel it is (grade_worker.Job)

    def format_kernel_cmd(self, extra_arguments=None):
        library = self.job.folder / "lib"
        program = [sys.executable, "-P", str(library / START), "-f", self.connection_file, *(extra_arguments or [])]
        return cage.command(self.job.isolation, program, self.job.home, library)


class Referee(WithinLimits, Execute):
    """nbgrader's Execute within limits; a check cell whose task is known is not run but judged."""

    tasks: dict[str, Task] = {}
    job = None  # grade_worker.Job
    watch = None  # watch.Watch, which may end the kernel

    def preprocess(self, nb, resources=None, km=None):
        self.cell_seconds, self.all_seconds = self.job.limits.cell_seconds, self.job.limits.all_seconds
        self.shutdown_kernel = "immediate"  # what a submission does at its exit is of no interest
        self.begin()
        return super().preprocess(nb, resources, km)

    def create_kernel_manager(self):
        self.km = type("Apart", (Apart,), {"job": self.job})(kernel_name="python3")
        self.km.connection_file = str(self.job.home / "kernel.json")
        if self.job.isolation != "none":
            self.km.transport, self.km.ip = "ipc", str(self.job.home / "kernel")
            self.km.kernel_spec.interrupt_mode = "message"  # a signal would end the cage
        return self.km

    async def async_start_new_kernel(self, **kwargs):
        await super().async_start_new_kernel(**{**kwargs, "cwd": str(self.job.home)})

    start_new_kernel = run_sync(async_start_new_kernel)

    def why_ended(self):
        return self.watch.reason()

    async def _start_again(self):
        with self.watch.ending:
            pass
        await super()._start_again()

    async def async_execute_cell(self, cell, cell_index, execution_count=None, store_history=True):
        began = time.monotonic()
        try:
            return await self._run_or_judge(cell, cell_index, execution_count, store_history)
        finally:
            self.watch.busy += time.monotonic() - began

    async def _run_or_judge(self, cell, cell_index, execution_count, store_history):
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
            answers = await self._ask(ASK.format(asked))
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
            text = self.why_ended() or "The function ended the Python process it ran in."
            await self._start_again()
            raise _NoAnswer("Ended", text) from None
        try:
            result = reply["content"]["user_expressions"]["answers"]
            if result["status"] == "error":
                raise _NoAnswer(str(result["ename"]), f"{result['ename']}: {result['evalue']}")
            text = result["data"]["text/plain"]
            if len(text) > 2 * LONGEST or text == "'too long'":
                raise _NoAnswer("CheckFailed", "What the function returned is too long to be an answer.")
            return read_answers(ast.literal_eval(text))
        except (KeyError, TypeError, ValueError, SyntaxError, RecursionError, MemoryError):
            text = "What the function returned could not be read: has the notebook changed Python itself?"
            raise _NoAnswer("CheckFailed", text) from None


class _NoAnswer(Exception):
    def __init__(self, name: str, text: str) -> None:
        super().__init__(text)
        self.name = name
