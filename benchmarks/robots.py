# SPDX-License-Identifier: Apache-2.0

"""Simulated robots of a fleet, each in its own time."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
import heapq
import math

from mnm_ros.core.fleet.fleet import Fleet, Member
from mnm_ros.core.model.counts import Pair
from mnm_ros.core.model.problem import RESET
from mnm_ros.simulation.cmp import Cmp
from mnm_ros.simulation.scenario import Scenario
from mnm_ros.simulation.simulator import Simulator
import numpy as np

Duration = Callable[[int, int, int], float]
"""How long a step takes, by state, action and next state; inf if nobody ever hears the end."""


def _one(state: int, action: int, next_state: int) -> float:
    return 1.0


@dataclass(frozen=True)
class Manner:
    """
    What is special about a robot.

    :ivar duration: of its steps; 1 if they all take the same.
    :ivar patience: after which an answer counts as lost, and the robot may be anywhere.
    :ivar lost: the answer to an action, no RESET, is lost with this probability.
    :ivar lost_still: the same, only where the robot was to stay in its place.
    :ivar moved: with which probability it is moved after a step, to where it was once before.
    :ivar joins: when it does.
    :ivar dies: when it answers for the last time.
    """

    duration: Duration = _one
    patience: float = 5.0
    lost: float = 0.0
    lost_still: float = 0.0
    moved: float = 0.0
    joins: float = 0.0
    dies: float = math.inf


class Robots:
    """
    Plays what a fleet asks for, in the order in which the robots answer.

    :param fleet: that they belong to.
    :param simulators: one for each robot.
    :param manners: of the robots, in the same order; the last one is that of all others.
    :param seed: of when a robot is moved or an answer is lost.
    :ivar members: the robots that have joined, by their place in that order.
    :ivar now: the time of the last answer; a round of parallel steps takes 1.
    :ivar interruptions: answers that nobody has heard, and moves, so far.
    """

    def __init__(self, fleet: Fleet, simulators: Sequence[Simulator],
                 manners: Sequence[Manner] = (), seed: int = 0) -> None:
        self.now = 0.0
        self.interruptions = 0
        self.members: dict[int, Member] = {}
        self._fleet = fleet
        self._simulators = simulators
        given = tuple(manners) or (Manner(),)
        self._manners = [given[min(i, len(given) - 1)] for i in range(len(simulators))]
        self._rng = np.random.default_rng(seed)
        self._places = [[simulator.state] for simulator in simulators]
        self._due = [(manner.joins, i) for i, manner in enumerate(self._manners)]
        heapq.heapify(self._due)
        self._under_way: dict[int, tuple[int, int | None]] = {}

    @property
    def scenario(self) -> Scenario:
        """Return what they explore."""
        return self._simulators[0].scenario

    @property
    def cmp(self) -> Cmp:
        """Return the CMP of the setting in force."""
        return self._simulators[0].cmp

    @property
    def setting(self) -> int:
        """Return the index of the setting in force."""
        return self._simulators[0].setting

    @property
    def steps(self) -> int:
        """Return how many steps they have made together."""
        return self._fleet.steps

    def waiting(self, pair: Pair) -> int:
        """Return how many executions of a pair have begun that the exploration has not taken."""
        return self._fleet._pool.waiting(pair)

    def change(self) -> None:
        """Go to the next setting, all of them."""
        for simulator in self._simulators:
            simulator.change()

    def step(self) -> None:
        """Let the next robot answer, and give it something to do."""
        self.now, number = heapq.heappop(self._due)
        if number not in self.members:
            self.members[number] = Member(self._fleet, f'robot {number}')
        member, manner = self.members[number], self._manners[number]
        if number in self._under_way:
            action, state = self._under_way.pop(number)
            if state is None:
                self.interruptions += 1
                member.robot_lost('it does not answer')
                member.lose_place()
            else:
                member.observe(action, state)
                self._move(number)
        if self.now < manner.dies:
            self._begin(number)
        self._fleet.advance()

    def _begin(self, number: int) -> None:
        member, manner = self.members[number], self._manners[number]
        simulator = self._simulators[number]
        before, action = simulator.state, member.next_action()
        state = simulator.step(action)
        took = 1.0 if action == RESET else manner.duration(before, action, state)
        if action != RESET and self._happens(manner.lost + manner.lost_still * (state == before)):
            took = math.inf
        heard = took <= manner.patience and self.now + took < manner.dies
        self._under_way[number] = action, state if heard else None
        heapq.heappush(self._due, (self.now + min(took, manner.patience), number))

    def _move(self, number: int) -> None:
        simulator, places = self._simulators[number], self._places[number]
        if self._happens(self._manners[number].moved):
            self.interruptions += 1
            places.append(simulator.state)
            simulator.state = places[int(self._rng.integers(len(places)))]
            self.members[number].relocate(simulator.state)

    def _happens(self, chance: float) -> bool:
        return chance > 0 and self._rng.random() < chance


@dataclass(frozen=True)
class Company:
    """
    What the robots of a fleet have in common; ``manners`` draws the rest.

    Half of them join late, and half of the others answer for the last time at some moment. How
    long a step takes depends on where it leads, differently for each of them.

    :ivar lost, lost_still, moved: of each of them, as in ``Manner``.
    :ivar slowest: how long a step may take.
    """

    lost: float = 0.0
    lost_still: float = 0.0
    moved: float = 0.01
    slowest: int = 20

    def manners(self, rng: np.random.Generator) -> tuple[Manner, ...]:
        """Return the manners of ``FEWEST`` to ``MOST`` robots; the first one is always there."""
        return tuple(self._manner(rng, number)
                     for number in range(int(rng.integers(FEWEST, MOST + 1))))

    def _manner(self, rng: np.random.Generator, number: int) -> Manner:
        times = rng.integers(1, self.slowest + 1, size=7).tolist()
        late, ends, joins, dies = *(rng.random(2) < 0.5), *rng.uniform(0, 400, size=2)

        def duration(state: int, action: int, after: int) -> float:
            return float(times[after % len(times)])
        return Manner(
            duration, self.slowest + 1.0, self.lost, self.lost_still, self.moved,
            joins if number and late else 0.0,
            dies if number and ends and not late else math.inf)


FEWEST, MOST = 2, 9

COMPANIES: Mapping[str, Company] = {
    'fleet_graph': Company(lost=0.02),
    'fleet_tree': Company(),
    'fleet_star': Company(lost_still=0.2),
    'fleet_changing': Company(),
    'early_fleet': Company(),
}
"""Of the families that are explored by a fleet."""
