"""Running a notebook that may do anything, top to bottom, within limits of time and output.

A cell that loops is interrupted, one that floods is cut off, and where the Python process itself ended or no longer
listens it is started anew and the cells before the culprit are run again, so that one bad cell costs that cell alone.
"""

import asyncio
import queue
import subprocess
import time
from typing import Any

from jupyter_client.utils import ensure_async, run_sync
from nbclient import NotebookClient
from nbclient.exceptions import CellTimeoutError, DeadKernelError
from nbformat import NotebookNode
from nbformat.v4 import new_output

STARTS = 10  # of one notebook's kernel, at most


def error_output(name: str, text: str) -> NotebookNode:
    """An error of ours, in the form of a cell's output."""
    text = _writable(text)
    return new_output("error", ename=name, evalue=text.splitlines()[0], traceback=text.splitlines())


def error_of(cell: NotebookNode) -> NotebookNode | None:
    """The error among a cell's outputs, if any."""
    return next((output for output in cell.get("outputs", []) if output.output_type == "error"), None)


class WithinLimits:
    """To be mixed into nbclient's NotebookClient, and so into nbgrader's Execute as well."""

    cell_seconds: float = 10
    all_seconds: float = 60
    most_characters: int = 100_000
    grace_seconds: float = 2  # what an interrupted cell has to come to its end

    def begin(self) -> None:
        """Forget an earlier run."""
        self._deadline: float | None = None  # counted from the first cell: how fast a kernel starts is nobody's merit
        self._ran: list[NotebookNode] = []
        self._starts = 1
        self._over: str | None = None  # why nothing more is run
        self.timeout_func = lambda cell: 30 if cell is None else self._seconds()
        self.error_on_timeout = {"ename": "Stopped", "evalue": "", "traceback": []}
        self.interrupt_on_timeout = True
        self.iopub_timeout = self.grace_seconds
        self.raise_on_iopub_timeout = True
        self.allow_errors = True
        self.record_timing = False

    def _left(self) -> float:
        """Seconds that remain of the time for all cells; the first one to ask starts the clock."""
        if self._deadline is None:
            self._deadline = time.monotonic() + self.all_seconds
        return self._deadline - time.monotonic()

    def _seconds(self) -> float:
        """How long the next cell may run."""
        return max(min(self.cell_seconds, self._left()), 0.1)

    async def async_start_new_kernel(self, **kwargs):
        """Start the kernel; what it writes past its notebook (a notice about its sockets) is not for the learner."""
        await super().async_start_new_kernel(stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **kwargs)

    start_new_kernel = run_sync(async_start_new_kernel)

    async def async_execute_cell(self, cell, cell_index, execution_count=None, store_history=True):
        """Run one cell; whatever it does, the next one can be run."""
        if cell.cell_type != "code" or not cell.source.strip():
            return cell
        self._characters, self._flooded, cell.outputs = 0, False, []
        if self._over is None and self._left() < 0:
            self._over = f"the notebook had run for {self.all_seconds:.0f} s"
        if self._over is not None:
            cell.outputs = [error_output("NotRun", f"Not run: {self._over}.")]
            return cell
        self._timed_out = self._asked_exit = False
        self._unreadable = ""  # what reading the kernel's messages came to
        seconds = self._seconds()
        try:
            await super().async_execute_cell(cell, cell_index, execution_count, store_history)
            alive = not self._asked_exit
        except DeadKernelError:
            self._asked_exit, alive = True, False
        except CellTimeoutError:  # it did not come to its end when interrupted, or its end was lost in a flood
            self._flooded = self._flooded or not self._timed_out
            self._timed_out, alive = not self._flooded, await self._listens()
        except Exception as error:  # a message that is none: nbclient takes it as the protocol says it is
            self._unreadable, alive = type(error).__name__, False
        if self._timed_out or self._flooded:
            self._say_stopped(cell, seconds)
        elif why := self._unreadable:
            cell.outputs = [error_output("Ended", f"This cell changed how Python answers ({why}), and was undone.")]
        elif self._asked_exit:
            text = self.why_ended() or "This cell ended the Python process it ran in."
            cell.outputs.append(error_output("Ended", text))
        if (self._flooded or self._timed_out) and alive:
            await self._drain()
        if not alive:
            await self._start_again()
        elif not (self._timed_out or self._flooded):
            self._ran.append(cell)
        return cell

    execute_cell = run_sync(async_execute_cell)

    def process_message(self, msg, cell, cell_index):
        """Count what a cell prints, and stop the cell when it is too much."""
        if msg["msg_type"] in ("stream", "display_data", "execute_result", "error", "update_display_data"):
            self._characters += _size(msg["content"])
            if self._characters > self.most_characters:
                if not self._flooded:
                    self._flooded = True
                    asyncio.ensure_future(ensure_async(self.km.interrupt_kernel()))
                return None
        return super().process_message({**msg, "content": _writable(msg["content"])}, cell, cell_index)

    async def _async_handle_timeout(self, timeout, cell=None):
        self._timed_out = True
        return await super()._async_handle_timeout(timeout, cell)

    def on_cell_executed(self, **kwargs):
        """nbclient hands over the kernel's reply: exit() announces itself there and takes effect a moment later."""
        payload = kwargs["execute_reply"]["content"].get("payload", [])
        self._asked_exit = any(item.get("source") == "ask_exit" for item in payload)

    def why_ended(self) -> str | None:
        """Why the Python process was ended from outside, if it was."""
        return None

    def _say_stopped(self, cell: NotebookNode, seconds: float) -> None:
        """The outputs of a cell that was interrupted: the beginning of what it printed, and why."""
        text = f"This cell ran longer than {seconds:.0f} s and was stopped: an endless loop?"
        if self._flooded:
            text = f"This cell printed more than {self.most_characters:,} characters and was stopped."
        printed = [output for output in cell.outputs if output.output_type == "stream"][:1]
        cell.outputs = [*printed, error_output("Stopped", text)]

    async def _drain(self) -> None:
        """Let go by what a cell still had to say when it was stopped: the next one is not to be blamed for it."""
        until = time.monotonic() + self.grace_seconds
        while time.monotonic() < until:
            try:
                await ensure_async(self.kc.iopub_channel.get_msg(timeout=0.2))
            except queue.Empty:
                return

    async def _listens(self) -> bool:
        """Whether the kernel answers, having been interrupted."""
        try:
            reply = self.kc.kernel_info()
            return await self._reply_to(await ensure_async(reply), self.grace_seconds) is not None
        except DeadKernelError:
            return False

    async def _reply_to(self, msg_id: str, seconds: float) -> dict | None:
        """The kernel's reply to a request, or None if there was none in time."""
        until = time.monotonic() + seconds
        while (left := until - time.monotonic()) > 0:
            try:
                reply = await ensure_async(self.kc.shell_channel.get_msg(timeout=min(left, 1)))
            except Exception:  # queue.Empty, or a message that is none
                if not await ensure_async(self.km.is_alive()):
                    raise DeadKernelError("Kernel died") from None
                continue
            if isinstance(reply["parent_header"], dict) and reply["parent_header"].get("msg_id") == msg_id:
                return reply
        return None

    async def _start_again(self) -> None:
        """A fresh Python process, brought to where the last one was before the cell that ended it."""
        while self._over is None:
            self._starts += 1
            if self._starts > STARTS or self._left() < 0:
                self._over = "the cells before had ended the Python process or had not stopped in time"
                return
            began = time.monotonic()
            try:
                await ensure_async(self.km.restart_kernel(now=True))
                await ensure_async(self.kc.wait_for_ready(timeout=30))
            except Exception:  # what the last one still had to say was no message, or this one was ended too
                continue
            self._deadline += time.monotonic() - began
            if await self._run_again():
                return

    async def _run_again(self) -> bool:
        for cell in list(self._ran):
            request = await ensure_async(self.kc.execute(cell.source, silent=True, store_history=False))
            try:
                if await self._reply_to(request, self._seconds()) is not None:
                    continue
            except DeadKernelError:
                pass
            self._ran.remove(cell)  # it was well behaved once: leave it out and begin again
            return False
        return True


def _writable(content: Any) -> Any:
    """The same with a question mark for half a character, which JSON allows and a file does not."""
    if isinstance(content, str):
        return content.encode("utf-8", "replace").decode()
    if isinstance(content, dict):
        return {_writable(key): _writable(value) for key, value in content.items()}
    return [_writable(item) for item in content] if isinstance(content, list) else content


def _size(content: dict) -> int:
    """About how many characters a message would add to the notebook."""
    data = content.get("data") or {}
    texts = [content.get("text", ""), *data.values(), *content.get("traceback", [])]
    return sum(len(text if isinstance(text, str) else str(text)) for text in texts)


class Runner(WithinLimits, NotebookClient):
    """Runs a notebook by itself, without nbgrader."""

    def run(self) -> NotebookNode:
        """Execute the notebook and return it."""
        self.begin()
        return self.execute()
