# SPDX-License-Identifier: Apache-2.0

"""One robot of a fleet."""

from __future__ import annotations

from mnm_ros.core.fleet.fleet import Fleet
from mnm_ros.core.fleet.sample_pool import Ticket
from mnm_ros.core.model.counts import Counts
from mnm_ros.core.model.problem import RESET
from mnm_ros.core.task.pausable_task import PausableTask
from mnm_ros.core.task.step_task import Homing


class Member(PausableTask):
    """
    One robot of a fleet.

    :param fleet: that it belongs to.
    :param name: of the robot.
    :ivar counts: the transitions that it has made, RESET included.
    :ivar steps: how many it has made.
    """

    def __init__(self, fleet: Fleet, name: str) -> None:
        self.homing = Homing(fleet.home)
        self.last_state: int | None = None
        self.counts = Counts()
        self.steps = 0
        self._fleet = fleet
        self._name = name
        self._open: int | None = None    # the action asked for and not observed yet
        self._ticket: Ticket | None = None
        self._lost = True    # whether a RESET comes first
        self._start_task()
        fleet.join(name, self)

    def next_action(self) -> int:
        """Return the action to play; the same until ``observe`` is called."""
        if self._open is None:
            self._open = RESET
            if not self._lost and self.last_state is not None:
                self._open, self._ticket = self._fleet.choose(self._name, self.last_state)
        return self._open

    def observe(self, action: int, state: int) -> None:
        """Take note that ``action``, which was ``next_action``, has led to ``state``."""
        self.robot_answers()
        here, self.last_state, self._open = self.last_state, state, None
        self.steps += 1
        self._fleet.steps += 1
        if here is not None:
            self.counts.add(here, action, state)
        if self.homing.home is None:
            self.homing.home = self._fleet.home
        self._lost = self.homing.missed(action, state)
        if action == RESET and self._fleet.home is None:
            self._fleet.came_home(state)
        elif action != RESET and here is not None:
            self._fleet.ended((here, action), state)
            self._settle(state)

    def relocate(self, state: int) -> None:
        """Take note that the robot was moved to ``state``: the next action is RESET."""
        self.lose_place()
        self.last_state = state

    def lose_place(self) -> None:
        """Take note that the robot may be anywhere: the next action is RESET."""
        self.last_state = self._open = None
        self._lost = True
        self._give_up()

    def robot_lost(self, reason: str) -> None:
        """Hear that the robot does not answer; the others do not wait for it."""
        super().robot_lost(reason)
        self._give_up()

    def pause(self, reason: str) -> None:
        """Stop between two steps; if an answer is still to come, the others do not wait for it."""
        super().pause(reason)
        self._give_up()

    def finish(self, reason: str) -> None:
        """Stop for good, this robot alone; nobody waits for an answer of it."""
        super().finish(reason)
        self._give_up()

    def fail(self, reason: str, recoverable: bool = True) -> None:
        """Stop because of a fault, of this robot alone."""
        super().fail(reason, recoverable)
        self.lose_place()

    def _give_up(self) -> None:
        self._settle(None)
        self._fleet.leave(self._name)

    def _settle(self, state: int | None) -> None:
        if self._ticket is not None:
            self._ticket.settle(state)
            self._ticket = None
