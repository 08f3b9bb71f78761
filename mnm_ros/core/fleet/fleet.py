# SPDX-License-Identifier: Apache-2.0

"""
Several robots of one kind explore one world.

The exploration is that of one robot, which does not exist: it executes a pair (state, action) by
taking what the robots have found out about that pair, see ``SamplePool``, and is at home as
soon as it plays RESET. The robots find out what it will ask for next, see ``look_ahead``.
Whether what it learns is right does not depend on how well that is foreseen:
``docs/explanation/fleet.md`` has the argument.
"""

from __future__ import annotations

from collections import Counter, deque
from dataclasses import dataclass

from mnm_ros.core.exploration import Exploration
from mnm_ros.core.fleet.assignments import Assignments, look_ahead
from mnm_ros.core.inputs import Update
from mnm_ros.core.model.counts import Counts, Pair
from mnm_ros.core.model.integers import as_action, as_state
from mnm_ros.core.model.problem import RESET
from mnm_ros.core.progress.said import Reason
from mnm_ros.core.task.step_task import Homing, PausableTask, RunState
import numpy as np

STEPS_AHEAD = 32
"""How many steps for each robot are planned ahead."""

MOST_LOOKS = 32
"""How many times that at most, if there is nothing to do otherwise."""

MOST_SPARE = 64, 8
"""Executions of a pair that may wait before the first hypothesis, and afterwards, without being
wanted. Afterwards they keep a change from being noticed, as they are older."""

TAKEN_LATELY = 256
"""How many executions count as those taken lately."""

_MOST_RESETS = 100    # in a row that the exploration may play between two steps of robots
_LIMITS_TO_WAIT = 5    # times the limit, that each robot may take to come to where it is wanted


class Fleet:
    """
    An exploration, and the robots that find out what it asks for.

    ``advance`` alone touches the exploration, and may run in another thread than all else.

    :param exploration: that of one robot, which does not exist.
    :param seed: of all random choices but those of the exploration.
    :ivar members: the robots by name; each joins when it is made.
    :ivar assignments: the pairs that each robot samples.
    :ivar steps: that all robots have made, RESETs included, and those of the exploration before.
    """

    def __init__(self, exploration: Exploration, seed: int = 0) -> None:
        self.exploration = exploration
        self.members: dict[str, PausableTask] = {}
        self.steps = exploration.steps
        self._pool = SamplePool()
        self.assignments = Assignments(exploration.home)
        self._rng = np.random.default_rng([seed, 1])
        self._looked_at = 0         # what was taken by then
        self._look = 1              # times the usual distance that is planned ahead
        self._ends_in_plan = False  # what was planned ahead last
        self._idle = False          # whether a robot has had nothing to do
        self._outdated = False      # whether nothing may be taken that has begun by now
        self._blocked: tuple[Pair | None, int] = (None, 0)    # since which step of all robots
        self._era = self._present

    @property
    def robots(self) -> int:
        """How many robots are under way."""
        # In one go, as others may join meanwhile.
        return sum(member.state is RunState.RUNNING for member in tuple(self.members.values()))

    def join(self, name: str, member: PausableTask) -> None:
        """Take a robot in; one that had this name before is gone for good, wherever it was."""
        if name in self.members:
            self.members[name].lose_place()
        self.members[name] = member

    def _choose(self, name: str, here: int) -> tuple[int, Ticket | None]:
        """Return what a robot does next, and what to settle afterwards if it matters."""
        if self._outdated:
            self._pool.clear()
            self._outdated = False    # last, as the exploration takes nothing until then
        if name in self.exploration.quarantined:
            return RESET, None
        forbids = self.exploration.mnm.support.forbids
        while (action := self.assignments.action(name, here)) is not None and (
                forbids(here, action)):    # declared since it was wanted
            self.assignments.drop((here, action))
        if action is None:
            self._idle = True
            begun = {each: self._pool.begun[here, each]
                     for each in range(self.exploration.problem.actions)
                     if not forbids(here, each)}
            # A pair that was wanted here may be wanted again, one day.
            action = min(begun, key=begun.__getitem__) if any(begun.values()) else RESET
        return action, None if action == RESET else self._begin((here, action), name)

    def advance(self) -> None:
        """Let the exploration go on as far as it can, and find out what it will want then."""
        if self.assignments.home is None:
            return
        if self.exploration.home is None:
            self._heed(self.exploration.observe(RESET, self.assignments.home))
            self._era = self._present
        before = self._pool.taken
        self._take()
        moved = self._pool.taken > before
        if self._surprised or moved and (
                self.assignments.open <= self.robots and not self._ends_in_plan
                or self._pool.taken >= self._looked_at + STEPS_AHEAD * self.robots // 4):
            self._look = 1
            self._look_ahead()
        elif self._idle and not (moved or self._ends_in_plan) and self._look < MOST_LOOKS:
            self._look *= 2
            self._look_ahead()

    @property
    def _present(self) -> tuple[int, int]:
        """Return what is another when a change was noticed, or a run of the base has begun."""
        return self.exploration.mnm.log.notices, self.exploration.mnm.runs.made

    @property
    def _next(self) -> Pair | None:
        """Return the pair that the exploration executes next; None for RESET."""
        action, here = self.exploration.next_action(), self.exploration.last_state
        return None if action == RESET or here is None else (here, action)

    @property
    def _surprised(self) -> bool:
        """Whether the exploration waits for what no robot is to find out."""
        pair = self._next
        return pair is not None and not (
            self._pool.waiting(pair) or self.assignments.wanted(pair))

    def _begin(self, pair: Pair, name: str) -> Ticket | None:
        spare = MOST_SPARE[self.exploration.hypothesis is not None]
        if self.assignments.begun(pair) or self._pool.waiting(pair) < spare:
            return self._pool.begin(pair, name)
        return None

    def _take(self) -> None:
        exploration, resets = self.exploration, 0
        while resets < _MOST_RESETS and not self._outdated:
            pair = self._next
            if pair is None:
                assert self.assignments.home is not None
                resets += 1
                self._heed(exploration.observe(RESET, self.assignments.home))
                continue
            ticket = self._pool.take(pair)
            if ticket is None:
                self._wait(pair)
                return
            resets = 0
            self._heed(exploration.lose_place(ticket.robot) if ticket.state is None else
                       exploration.observe(pair[1], ticket.state, ticket.robot))
            self._outdated = self._era != self._present
            self._era = self._present

    def _wait(self, pair: Pair) -> None:
        """Break a step off that no robot comes to make, as nothing may lead there any more."""
        blocked, since = self._blocked
        if blocked != pair or self._pool.waiting(pair):
            self._blocked = pair, self.steps
        elif self.steps > since + (
                _LIMITS_TO_WAIT * self.exploration.problem.limit * max(1, self.robots)):
            self._blocked = None, self.steps
            self._heed(self.exploration.lose_place())

    def _heed(self, update: Update) -> None:
        """Forget what has followed the pairs that lead elsewhere by now."""
        for state, action in update.outdated:
            self.assignments.outdate(state, action)

    def _look_ahead(self) -> None:
        """Find out what is wanted soon and has not begun."""
        self._idle = False
        self._looked_at = self._pool.taken
        robots, mnm = max(1, self.robots), self.exploration.understudy()
        if mnm is None:    # no more is known of what is wanted next
            asked = {self._next: [0]} if self._next else {}
        else:
            asked, self._ends_in_plan = look_ahead(
                mnm, self.exploration.last_state, self._look * STEPS_AHEAD * robots,
                self._pool.outcomes(), self.assignments.recent, self._rng)
        if self._ends_in_plan:    # perhaps it will want more of what it has wanted lately
            later = self._look * STEPS_AHEAD * robots
            for pair, number in Counter(self._pool.lately).items():
                asked.setdefault(pair, []).extend([later] * number)
        self.assignments.want({
            pair: steps[self._pool.waiting(pair):] for pair, steps in asked.items()
            if len(steps) > self._pool.waiting(pair)}, robots)


class Member(PausableTask):
    """
    One robot of a fleet.

    :param fleet: that it belongs to.
    :param name: of the robot.
    :ivar counts: the transitions that it has made, RESET included.
    :ivar steps: how many it has made.
    """

    def __init__(self, fleet: Fleet, name: str) -> None:
        self.homing = Homing(fleet.assignments.home)
        self.last_state: int | None = None
        self.counts = Counts()
        self.steps = 0
        self._fleet = fleet
        self._name = name
        self._open: int | None = None    # the action asked for and not observed yet
        self._ticket: Ticket | None = None
        self._lost = True    # whether a RESET comes first
        fleet.join(name, self)

    def next_action(self) -> int:
        if self._open is None:
            self._open = RESET
            if not self._lost and self.last_state is not None:
                self._open, self._ticket = self._fleet._choose(self._name, self.last_state)
        return self._open

    def observe(self, action: int, state: int) -> None:
        action, state = as_action(action, self._fleet.exploration.problem.actions), as_state(state)
        self.robot_answers()
        here, self.last_state, self._open = self.last_state, state, None
        self.steps += 1
        self._fleet.steps += 1
        if here is not None:
            self.counts.add(here, action, state)
        if self.homing.home is None:
            self.homing.home = self._fleet.assignments.home
        self._lost = self.homing.missed(action, state)
        if action == RESET and self._fleet.assignments.home is None:
            self._fleet.assignments.home = state
        elif action != RESET and here is not None:
            self._fleet.assignments.ended((here, action), state)
            self._settle(state)

    def relocate(self, state: int) -> None:
        state = as_state(state)
        self.lose_place()
        self.last_state = state

    def lose_place(self) -> None:
        self.last_state = self._open = None
        self._lost = True
        self._give_up()

    def robot_lost(self, reason: Reason) -> None:
        """Hear that the robot does not answer; the others do not wait for it."""
        super().robot_lost(reason)
        self._give_up()

    def pause(self, reason: Reason) -> None:
        """Stop between two steps; if an answer is still to come, the others do not wait for it."""
        super().pause(reason)
        self._give_up()

    def finish(self, reason: Reason) -> None:
        """Stop for good, this robot alone; the others do not wait for it."""
        super().finish(reason)
        self._give_up()

    def fail(self, reason: Reason, recoverable: bool = True) -> None:
        """Stop because of a fault, of this robot alone."""
        super().fail(reason, recoverable)
        self.lose_place()

    def _give_up(self) -> None:
        self._settle(None)
        self._fleet.assignments.claims.pop(self._name, None)

    def _settle(self, state: int | None) -> None:
        if self._ticket is not None:
            self._ticket.settle(state)
            self._ticket = None


@dataclass(eq=False)
class Ticket:
    """
    One execution of a pair.

    :ivar robot: that makes it.
    :ivar settled: whether it is over, one way or another.
    :ivar state: where it has led; None if that will never be known.
    """

    robot: str = ''
    settled: bool = False
    state: int | None = None

    def settle(self, state: int | None) -> None:
        """Record the end of it; only the first one counts."""
        if not self.settled:
            self.state = state    # first: another thread may read
            self.settled = True


class SamplePool:
    """
    The outcomes, by pair (state, action), that robots have found, or will: not taken yet.

    The outcomes of a pair are taken from here one by one, as if one robot had executed the pair
    again and again. They come in the order in which the executions *began*: the outcome of a slow
    robot is waited for, as what takes longer may well be what leads elsewhere. An execution whose
    end will not be heard of keeps its place, too, and counts as broken off.

    :ivar begun: how many ever were, by pair.
    :ivar taken: how many of them were taken.
    :ivar lately: the pairs of the last of these.
    """

    def __init__(self) -> None:
        self.begun: Counter[Pair] = Counter()
        self.taken = 0
        self.lately: deque[Pair] = deque(maxlen=TAKEN_LATELY)
        self._queues: dict[Pair, deque[Ticket]] = {}

    def begin(self, pair: Pair, robot: str = '') -> Ticket:
        """Note that a robot begins to execute a pair."""
        ticket = Ticket(robot)
        self._queues.setdefault(pair, deque()).append(ticket)
        self.begun[pair] += 1
        return ticket

    def waiting(self, pair: Pair) -> int:
        """Return how many executions of a pair were not taken yet, over or not."""
        return len(self._queues.get(pair, ()))

    def take(self, pair: Pair) -> Ticket | None:
        """Return the oldest execution that was not taken, if it is over; else None."""
        queue = self._queues.get(pair)
        if not queue or not queue[0].settled:
            return None
        self.taken += 1
        self.lately.append(pair)
        return queue.popleft()

    def outcomes(self) -> dict[Pair, list[int | None]]:
        """Return what would be taken next, by pair."""
        found: dict[Pair, list[int | None]] = {}
        for pair, queue in list(self._queues.items()):
            ready = found.setdefault(pair, [])
            for ticket in list(queue):
                if not ticket.settled:
                    break
                ready.append(ticket.state)
        return found

    def clear(self) -> None:
        """Drop everything, also what is not over yet."""
        for pair, queue in self._queues.items():
            self.begun[pair] -= len(queue)
        self._queues.clear()
