# SPDX-License-Identifier: Apache-2.0

"""
Replay what is on the disk beside the node, and go on from there: at the start, and on request.

``ExplorationSession`` asks at the start, and again as long as the disk cannot be read. The
services ``load`` and ``forget`` ask at any time.
"""

from __future__ import annotations

from collections.abc import Callable
import math
import time

from mnm_ros.checkpoint.forget import Forgotten
from mnm_ros.checkpoint.input_log import LoadCancelled
from mnm_ros.core.errors import CheckpointError
from mnm_ros.core.progress.events import Event
from mnm_ros.nodes.exploring.exploration_store import ExplorationStore, RestoredExploration
from mnm_ros.nodes.exploring.link.callback_guard import CallbackGuard
from mnm_ros.nodes.exploring.output.publishers import Publishers

_LOAD_AGAIN = 5.0      # s, after which a disk that could not be read at the start is read again


class Restoring:
    """
    Replays in a thread of the guard; what follows is done in the node's own thread.

    :param store: has what is on the disk, and adopts the exploration made of it.
    :param publishers: report what was wrong with what is on the disk.
    :param adopted: called when the store has another exploration.
    :param started: called after that at the start, loaded: after that on request.
    :param fail: called with a sentence if nothing was loaded at the start.
    """

    def __init__(self, store: ExplorationStore, guard: CallbackGuard, publishers: Publishers, *,
                 adopted: Callable[[], None], started: Callable[[], None],
                 loaded: Callable[[], None], fail: Callable[[str], None]) -> None:
        self._store = store
        self._guard = guard
        self._publishers = publishers
        self._adopted, self._started, self._loaded = adopted, started, loaded
        self._fail = fail
        self._again_at = math.inf    # when a disk is read again that could not be read

    def start(self) -> None:
        """Go on from what is on the disk, as the node has started."""
        self._replay(self._store.restore, self._end_start)

    def start_again(self) -> None:
        """Do so again if it is time to, as the disk could not be read."""
        if (time.monotonic() >= self._again_at and self._store.waiting
                and not self._guard.busy):
            self._again_at = math.inf
            self.start()

    def load(self, then: Callable[[Exception | None], None], patience: float) -> None:
        """
        Go back to what is on the disk, paused.

        :param then: called with None at the end, or with what went wrong: CheckpointError if
            nothing there can be gone on from.
        :param patience: seconds to wait for the end.
        :raises CheckpointError: if that cannot even begin.
        """
        self._go_back(self._store.restore, then, patience)

    def forget(self, source: str, since: str,
               then: Callable[[str | Exception], None]) -> None:
        """
        Take back what came from a source, and go on from what still holds, paused.

        :param since: as ``checkpoint.forget.forget`` has it.
        :param then: called at the end with what was taken back, or with what went wrong.
        :raises CheckpointError: if that cannot even begin.
        """
        store, outcomes = self._store, list[Forgotten | Exception]()

        def restore() -> RestoredExploration:
            outcomes.append(store.forget(source, since))
            return store.restore()

        def end(error: Exception | None) -> None:
            outcome = error or outcomes[0]
            if isinstance(outcome, Forgotten):
                self._publishers.event(Event(store.exploration.steps, str(outcome), 'source'))
            then(outcome if isinstance(outcome, Exception) else str(outcome))

        self._go_back(restore, end)

    def _go_back(self, restore: Callable[[], RestoredExploration],
                 then: Callable[[Exception | None], None], patience: float = 0.0) -> None:
        if self._guard.busy:
            raise CheckpointError(
                'a plan is being made, or what is on the disk is being replayed; call '
                'again after that')

        def end(restored: RestoredExploration | Exception) -> None:
            try:
                self._adopt(restored)
            except Exception as error:
                then(error)
                return
            self._loaded()
            then(None)

        self._replay(restore, end)
        self._guard.look(patience)

    def _replay(self, make: Callable[[], RestoredExploration],
                then: Callable[[RestoredExploration | Exception], None]) -> None:
        """Replay what is on the disk in a thread; the result is reported here."""
        def restore() -> None:
            try:
                restored: RestoredExploration | Exception = make()
            except Exception as error:
                restored = error
            self._guard.in_node_thread(then, restored)

        self._guard.aside(restore, lambda seconds: None)

    def _end_start(self, restored: RestoredExploration | Exception) -> None:
        """Go on at the start from what was on the disk."""
        try:
            self._adopt(restored)
        except LoadCancelled:
            pass    # the node is leaving
        except (CheckpointError, OSError) as error:    # of the disk, which may be freed
            self._again_at = time.monotonic() + _LOAD_AGAIN
            self._fail(f'nothing was loaded: {error}; loading is tried again every '
                       f'{_LOAD_AGAIN:g} s')
        except Exception as error:
            self._fail(f'nothing was loaded: {error}')
        else:
            self._started()

    def _adopt(self, restored: RestoredExploration | Exception) -> None:
        if isinstance(restored, Exception):
            raise restored
        try:
            self._store.adopt(restored)
        finally:
            self._publishers.kept(
                (*restored.refusals, *restored.repairs), self._store.exploration.steps)
        self._adopted()
