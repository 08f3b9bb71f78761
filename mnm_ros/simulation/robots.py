# Copyright 2026 mnm_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0
# Unless required by applicable law or agreed to in writing, software distributed under the License
# is distributed on an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express
# or implied. See the License for the specific language governing permissions and limitations under
# the License.


"""Simulated robots of a fleet, each in its own time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
import heapq
import math

from mnm_ros.core.fleet.fleet import Fleet
from mnm_ros.core.fleet.member import Member
from mnm_ros.core.problem import RESET
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
    :ivar moved: with which probability it is moved after a step, to where it was once before.
    :ivar joins: when it does.
    :ivar dies: when it answers for the last time.
    """

    duration: Duration = _one
    patience: float = 5.0
    moved: float = 0.0
    joins: float = 0.0
    dies: float = math.inf


class Robots:
    """
    Plays what a fleet asks for, in the order in which the robots answer.

    :param fleet: that they belong to.
    :param simulators: one for each robot.
    :param manners: of the robots, in the same order; the last one is that of all others.
    :param seed: of when a robot is moved.
    :ivar members: the robots that have joined, by their place in that order.
    :ivar now: the time of the last answer; a round of parallel steps takes 1.
    """

    def __init__(self, fleet: Fleet, simulators: Sequence[Simulator],
                 manners: Sequence[Manner] = (), seed: int = 0) -> None:
        self.now = 0.0
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

    def step(self) -> None:
        """Let the next robot answer, and give it something to do."""
        self.now, number = heapq.heappop(self._due)
        if number not in self.members:
            self.members[number] = Member(self._fleet, f'robot {number}')
        member, manner = self.members[number], self._manners[number]
        if number in self._under_way:
            action, state = self._under_way.pop(number)
            if state is None:
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
        heard = took <= manner.patience and self.now + took < manner.dies
        self._under_way[number] = action, state if heard else None
        heapq.heappush(self._due, (self.now + min(took, manner.patience), number))

    def _move(self, number: int) -> None:
        simulator, places = self._simulators[number], self._places[number]
        chance = self._manners[number].moved
        if chance and self._rng.random() < chance:
            places.append(simulator.state)
            simulator.state = places[int(self._rng.integers(len(places)))]
            self.members[number].relocate(simulator.state)
