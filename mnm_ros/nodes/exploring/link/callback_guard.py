# SPDX-License-Identifier: Apache-2.0

"""The guard between callbacks and the exploration."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from functools import wraps
from queue import SimpleQueue
import threading
import time
import traceback
from typing import Any

from mnm_ros.nodes.common.allowance import Allowance
from mnm_ros.nodes.common.node_scope import NodeInterface

_AT_ONCE = 0.01      # s; most steps take less, and are waited for: that is quicker
_LAST_PLAN = 1.0     # s, to wait for a plan before it is dropped with the exploration


class BackgroundWorker:
    """
    Does one thing at a time in a thread of its own, so that a node is served meanwhile.

    :param wake: called in that thread when something is done that took long. It has to see to it
        that ``done`` is asked for soon.
    :ivar done: whether nothing is under way.
    :ivar error: what the last work has raised, an exit of the process included; None if nothing.
    """

    def __init__(self, wake: Callable[[], None]) -> None:
        self.done = True
        self.error: BaseException | None = None
        self._wake = wake
        self._work: SimpleQueue[Callable[[], object] | None] = SimpleQueue()
        self._under_way = threading.Lock()    # held as long as there is something to wait for
        self._left_alone = False    # whether the end is not waited for
        self._thread: threading.Thread | None = None

    @property
    def here(self) -> bool:
        """Whether it is this thread that asks."""
        return threading.current_thread() is self._thread

    def run(self, work: Callable[[], object]) -> bool:
        """Begin to do something; return whether it is done already."""
        if self._thread is None:
            # It must not keep the process from ending: a plan cannot be broken off.
            self._thread = threading.Thread(target=self._run, name='aside', daemon=True)
            self._thread.start()
        self.done, self.error, self._left_alone = False, None, False
        self._under_way.acquire(blocking=False)
        self._work.put(work)
        try:
            self.wait(_AT_ONCE)
        finally:    # a Ctrl-C may end it
            self._left_alone = not self.done
        return self.done    # asked for again, so that its end is seen here or reported

    def wait(self, timeout: float) -> bool:
        """Wait for some seconds; return whether nothing is under way."""
        if not self.done:
            self._under_way.acquire(timeout=timeout)
        return self.done

    def close(self) -> None:
        """End the thread after what it is doing."""
        self._work.put(None)

    def _run(self) -> None:
        while (work := self._work.get()) is not None:
            try:
                work()
            except BaseException as error:    # the thread that waits raises it
                self.error = error
            self.done = True
            if self._under_way.locked():
                self._under_way.release()
            if self._left_alone:
                self._wake()


class CallbackGuard:
    """
    Keeps an error of the algorithm from ending the node, and late callbacks from acting.

    The exploration takes each step in a thread. While that lasts longer, the node is served, but
    the exploration and the loop may not be touched: what concerns them waits here until the step
    is taken, in the order in which it came, and comes before the next step begins. The same holds
    while the thread does other work, such as to read the disk.

    :param on_error: called with a sentence about an error.
    :param allowance: for all that others may ask for as often as they like.
    :ivar closed: once it is true, callbacks do nothing.
    :ivar busy: whether the thread has not ended its work.
    :ivar stopping: whether no step follows on this work.
    """

    def __init__(self, node: NodeInterface, on_error: Callable[[str], None],
                 allowance: Allowance) -> None:
        self.allowance = allowance
        self.closed = False
        self.busy = False
        self.stopping = False
        self._node = node
        self._on_error = on_error
        self._worker = BackgroundWorker(self._wake)
        self._then: Callable[[float], None] = lambda seconds: None
        self._begun = 0.0
        self._told: list[tuple[Callable[..., None], tuple[Any, ...]]] = []
        self._waiting: deque[tuple[Callable[..., None], tuple[Any, ...], bool]] = deque()

    def call(self, method: Callable[..., None], *arguments: Any) -> None:
        """Call a method of the loop or of what surrounds it, after the work of the thread."""
        if self.busy:
            waits = self.call, (method, *arguments), False
            if not self._waiting or self._waiting[-1] != waits:    # called again and again
                self._waiting.append(waits)
            return
        try:
            method(*arguments)
        except Exception as error:
            self._node.get_logger().error(traceback.format_exc(), throttle_duration_sec=5.0)
            self._on_error(f'{type(error).__name__}: {error}')

    def while_open(self, callback: Callable[..., None]) -> Callable[..., None]:
        """Return the callback of a timer or service, which may come after that was removed."""
        @wraps(callback)
        def guarded(*arguments: Any) -> None:
            if not self.closed:
                callback(*arguments)
        return guarded

    def limited(self, topic: str, callback: Callable[[Any], object],
                times: int = 1) -> Callable[[Any], object]:
        """
        Return the callback of a topic that anybody may flood; what is too much is left out.

        :param times: as for ``Allowance.takes``.
        """
        return self.allowance.limited(topic, callback, lambda message: None, times=times)

    def for_topic(self, callback: Callable[..., None], depth: int) -> Callable[..., None]:
        """Return the callback of a topic; while the thread works, the last messages wait."""
        def guarded(*arguments: Any) -> None:
            if self.closed:
                return
            if not self.busy:
                callback(*arguments)
                return
            same = [entry for entry in self._waiting if entry[0] is callback]
            if len(same) >= depth:
                self._waiting.remove(same[0])
            self._waiting.append((callback, arguments, True))
        return guarded

    def aside(self, work: Callable[[], object], then: Callable[[float], None]) -> None:
        """Do some work in the thread; ``then`` is called here with its seconds, perhaps later."""
        self._begun, self._then, self.busy = time.monotonic(), then, True
        if self._worker.run(work):
            self._end_work()

    def in_node_thread(self, callback: Callable[..., None], *arguments: Any) -> None:
        """Call a callback in the node's thread: at once, or when the step that asks is over."""
        if self._worker.here:
            self._told.append((callback, arguments))
        else:
            callback(*arguments)

    def look(self, timeout: float = 0.0) -> None:
        """Go on if the thread has ended its work."""
        if self.busy and (timeout or not self.closed) and self._worker.wait(timeout):
            self._end_work()

    def close(self) -> None:
        """Let nothing happen any more; what is known at the end of a short step is kept."""
        self.closed = True
        self.look(_LAST_PLAN)
        self._worker.close()

    def _end_work(self) -> None:
        """Do what has waited for the thread, its own callbacks first, and begin the next step."""
        failed, self.busy = self._worker.error, False
        told, self._told = self._told, []
        for callback, arguments in told:
            callback(*arguments)
        if failed is not None and not isinstance(failed, Exception):
            raise failed    # it ends the process here, too
        if self.closed:
            return
        then, stopping = self._then, self.stopping
        if failed is not None:
            self.call(_fail, failed)
        while self._waiting and not self.busy:
            callback, arguments, of_topic = self._waiting.popleft()
            if not (stopping and of_topic):
                callback(*arguments)
        # If the thread works again, the next step has begun already.
        if not (stopping or self.busy or failed is not None):
            self.call(then, time.monotonic() - self._begun)

    def _wake(self) -> None:
        executor = self._node.executor
        if executor is not None:
            executor.create_task(self.look)


def _fail(error: Exception) -> None:
    raise error
