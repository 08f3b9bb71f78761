# SPDX-License-Identifier: Apache-2.0

"""Makes the steps of several robots that explore together."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from mnm_ros.core.exploration import Exploration
from mnm_ros.core.task.step_task import OVER
from mnm_ros.protocol.step_loop import StepLoop


class FleetLoop:
    """
    What ``Loop`` is to one robot.

    :param exploration: what is explored.
    :param loops: one for each robot.
    :param drive: has the robots explore something else.
    :ivar aside: never called, as nobody waits for the exploration.
    """

    def __init__(self, exploration: Exploration, loops: Sequence[StepLoop],
                 drive: Callable[[Exploration], None]) -> None:
        self._exploration = exploration
        self._loops = loops
        self._drive = drive
        self.aside: Any = None

    @property
    def running(self) -> bool:
        """Whether exploration is to go on."""
        return any(loop.running for loop in self._loops)

    @property
    def over(self) -> bool:
        """Whether the exploration has ended, for good or by a fault."""
        return self._exploration.state in OVER

    @property
    def obstacle(self) -> Callable[[], str]:
        """Return what each robot asks before each step: what is against it, or nothing."""
        return self._loops[0].obstacle

    @obstacle.setter
    def obstacle(self, obstacle: Callable[[], str]) -> None:
        for loop in self._loops:
            loop.obstacle = obstacle

    @property
    def timeouts(self) -> int:
        """How often something had to be sent to a robot again."""
        return sum(loop.timeouts for loop in self._loops)

    def drive(self, exploration: Exploration) -> None:
        """Take another exploration, to begin with ``resume``."""
        self._exploration = exploration
        self._drive(exploration)

    def resume(self, now: float) -> None:
        """Begin, or go on, each robot with a RESET."""
        self._exploration.resume()
        for loop in self._loops:
            loop.resume(now)

    def pause(self, reason: str) -> None:
        """Pause at once; the answers to the actions under way still count."""
        for loop in self._loops:
            loop.pause(reason)
        self._exploration.pause(reason)

    def pause_after_step(self, reason: str) -> None:
        """Pause each robot once its step under way is over."""
        for loop in self._loops:
            loop.pause_after_step(reason)

    def fail(self, reason: str, now: float, recoverable: bool = True) -> None:
        """Stop because of a fault, and have the robots go home."""
        for loop in self._loops:
            loop.fail(reason, now, recoverable)
        self._exploration.fail(reason, recoverable)

    def recover(self, now: float) -> None:
        """Go on after a fault, of one robot or of all."""
        self._exploration.recover()
        for loop in self._loops:
            loop.recover(now)

    def finish(self, reason: str) -> None:
        """Stop for good."""
        for loop in self._loops:
            loop.running = False
            loop.task.finish(reason)
        self._exploration.finish(reason)
