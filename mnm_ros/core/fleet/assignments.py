# SPDX-License-Identifier: Apache-2.0

"""The pairs that each robot samples, so that several sample at once what is wanted soon."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Hashable, Iterable, Mapping, Sequence
from functools import cached_property
import math
from typing import Any

from mnm_ros.core.mnm.capabilities import candidates_of, FEW_STATES, TakesTurns
from mnm_ros.core.mnm.checking_phase import CheckingPhase
from mnm_ros.core.mnm.mnm import Mnm
from mnm_ros.core.model.counts import Pair
from mnm_ros.core.model.problem import RESET
from mnm_ros.core.planning.shortest_ways import sparse_graph
import numpy as np

RECENT_OUTCOMES = 64
"""Outcomes of a pair by which ways are found: what has changed is forgotten soon."""

_STEPS_TO_REFRESH = 64      # steps of a robot after which ways are searched for again
_URGENCY = 0.1     # steps of a detour for each step that something is wanted sooner

Way = tuple[dict[int, float], dict[int, int]]
"""By state, the steps that it takes to a target, and the action that leads there."""


_Wanted = dict[int, dict[int, list[int]]]    # by state and action, steps ahead, the last first


class Assignments:
    """
    Sends robots to pairs that are wanted. All of it is heuristic.

    ``want`` and ``outdate`` may be called in another thread than all else.

    :ivar home: where RESET leads; None if that is not known yet.
    :ivar recent: where each pair has led lately.
    :ivar claims: where each robot is on its way to that is.
    :ivar open: how many executions are wanted that have not begun.
    """

    def __init__(self, home: int | None = None) -> None:
        self.home = home
        self.recent: dict[Pair, deque[int]] = {}
        self._robots = 1
        self.open = 0
        self._open: _Wanted = {}
        self.claims: dict[Hashable, int] = {}
        self._ways: dict[int, Way] = {}
        self._graph = _Graph({}, home)
        self._stale = True    # it does not know all there is to know
        self._age = 0         # steps since it was made
        self._met: set[int] = set()

    def want(self, lacking: Mapping[Pair, Sequence[int]], robots: int) -> None:
        """Record the steps ahead in which executions are wanted that have not begun."""
        wanted: dict[int, dict[int, list[int]]] = {}
        for (state, action), steps in lacking.items():
            wanted.setdefault(state, {})[action] = list(reversed(steps))
        self._open, self._robots, self._stale = wanted, robots, True
        self.open = sum(map(len, lacking.values()))

    def wanted(self, pair: Pair) -> bool:
        """Return whether it is wanted that a pair is executed."""
        return pair[1] in self._open.get(pair[0], ())

    def begun(self, pair: Pair) -> bool:
        """Record that a robot executes a pair; return whether it was wanted."""
        (state, action), wanted = pair, self._open
        steps = wanted.get(state, {}).get(action)
        if not steps:
            return False
        steps.pop()
        self.open -= 1
        if not steps:
            del wanted[state][action]
            if not wanted[state]:
                del wanted[state]
        return True

    def ended(self, pair: Pair, state: int) -> None:
        """Record where a pair has led."""
        self.recent.setdefault(pair, deque(maxlen=RECENT_OUTCOMES)).append(state)
        self._age += 1
        if state not in self._met:
            self._met.add(state)
            self._stale = True

    def outdate(self, state: int | None, action: int | None) -> None:
        """Forget where a pair has led; None is any."""
        for pair in list(self.recent):
            if state in (None, pair[0]) and action in (None, pair[1]):
                del self.recent[pair]
        self._stale = True

    def drop(self, pair: Pair) -> None:
        """Take it that a pair is not wanted, and on no way, any more."""
        while self.begun(pair):
            pass
        self.outdate(*pair)

    def action(self, robot: Hashable, here: int) -> int | None:
        """Return what a robot that is here does next; None if nothing is wanted of it."""
        if self._stale or self._age > _STEPS_TO_REFRESH * self._robots:
            self._stale, self._age = False, 0
            # A copy, as ``outdate`` may be at work.
            self._graph, self._ways = _Graph(dict(self.recent), self.home), {}
        wanted = self._open
        target = self.claims.get(robot)
        if (target is None or target == here or target not in wanted
                or self.steps(here, target) == math.inf):
            target = self._nearest(robot, here, wanted)
            if target is None:
                self.claims.pop(robot, None)
                return None
            self.claims[robot] = target
        if target == here:
            return min(wanted[here], key=lambda action: wanted[here][action][-1])
        return self._way(target)[1].get(here, RESET)

    def _nearest(self, robot: Hashable, here: int, wanted: _Wanted) -> int | None:
        """
        Return the nearest state where something is wanted; what is wanted first seems nearer.

        No more robots are on their way to a state than executions are wanted there.
        """
        coming = Counter(target for each, target in self.claims.items() if each != robot)
        best: tuple[float, int] | None = None
        for target, actions in wanted.items():
            if sum(map(len, actions.values())) > coming[target]:
                steps = 0.0 if target == here else self.steps(here, target)
                ahead = min(steps_ahead[-1] for steps_ahead in actions.values()) / self._robots
                if best is None or steps + _URGENCY * ahead < best[0]:
                    best = steps + _URGENCY * ahead, target
        return None if best is None or best[0] == math.inf else best[1]

    def steps(self, here: int, target: int) -> float:
        """Return how many steps it seems to take from a state to another; a RESET is one."""
        distances = self._way(target)[0]
        found = distances.get(here)
        if found is None and self.home is not None:    # a RESET comes first
            found = distances.get(self.home, math.inf) + 1
        return math.inf if found is None else found

    def _way(self, target: int) -> Way:
        found = self._ways.get(target)
        if found is None:
            found = self._ways[target] = self._graph.way(target)
        return found


class _Graph:
    """The moves that robots have made lately, RESET included."""

    def __init__(self, recent: Mapping[Pair, Iterable[int]], home: int | None) -> None:
        cheapest: dict[tuple[int, int], tuple[float, int]] = {}
        for (state, action), outcomes in recent.items():
            counts = Counter(outcomes)
            visits = sum(counts.values())
            for after, count in counts.items():
                move = visits / count, action
                if (state, after) not in cheapest or move < cheapest[state, after]:
                    cheapest[state, after] = move
        states = {home: None} if home is not None else {}
        for state, after in cheapest:
            states[state] = states[after] = None
        self._states = list(states)
        self._places = {state: place for place, state in enumerate(self._states)}
        for state in self._states:
            if home is not None and state != home:
                reset = 1.0, RESET
                cheapest[state, home] = min(reset, cheapest.get((state, home), reset))
        self._actions = {edge: action for edge, (_, action) in cheapest.items()}
        self._origins = np.array([self._places[state] for state, _ in cheapest], dtype=np.intp)
        self._ends = np.array([self._places[after] for _, after in cheapest], dtype=np.intp)
        self._costs = np.array([cost for cost, _ in cheapest.values()])

    @cached_property
    def _backwards(self) -> Any:
        """Return the moves from their ends, once for all targets."""
        return sparse_graph(len(self._states), self._costs, self._ends, self._origins)

    def way(self, target: int) -> Way:
        """Return the way to a state from everywhere else."""
        if target not in self._places:
            return {}, {}
        from scipy.sparse.csgraph import dijkstra  # on first use, see mnm_ros/core/libraries.py
        steps, following = dijkstra(
            self._backwards, indices=self._places[target], return_predecessors=True)
        distances, actions = {}, {}
        for place, (distance, after) in enumerate(zip(steps.tolist(), following.tolist())):
            if distance < math.inf:
                state = self._states[place]
                distances[state] = distance
                if after >= 0:
                    actions[state] = self._actions[state, self._states[after]]
        return distances, actions


def look_ahead(mnm: Mnm, here: int | None, steps: int,
               ready: Mapping[Pair, Sequence[int | None]],
               recent: Mapping[Pair, Sequence[int]],
               rng: np.random.Generator) -> tuple[dict[Pair, list[int]], bool]:
    """
    Return in which of the next steps each pair is executed, and whether a plan has ended it.

    They lead where it is known that they will, and then to what has followed lately. It ends early
    where a plan would take long.

    :param mnm: what is led through them.
    :param here: where the robot is; None if that is not known.
    :param steps: how many, at most.
    :param ready: what follows next, by pair, as far as that is known.
    :param recent: what has followed a pair lately.
    :param rng: draws what is not known.
    """
    assert mnm.home is not None
    asked: dict[Pair, list[int]] = {}
    for step in range(steps):
        action, state = mnm.next_action(), mnm.home
        if action != RESET and here is not None:
            pair = here, action
            known, seen = ready.get(pair, ()), recent.get(pair)
            turns = asked.setdefault(pair, [])
            place = len(turns)
            turns.append(step)
            drawn = seen[int(rng.random() * len(seen))] if seen else here
            known_state = known[place] if place < len(known) else None
            state = drawn if known_state is None else known_state
        if _takes_long(mnm, action, state):
            return asked, True
        mnm.observe(action, state)
        here = state
    return asked, False


def _takes_long(mnm: Mnm, action: int, state: int) -> bool:
    """Return whether the next step may plan, or check policies, over many states."""
    phase = mnm.phase
    run = phase.base
    if run is None:
        return False
    checked = phase.policies if isinstance(phase, CheckingPhase) else ()
    if len(checked) <= FEW_STATES and isinstance(run, TakesTurns) and not run.may_plan(
            action, state):
        return False
    return len(run.policies) + len(candidates_of(run)) > 2 * FEW_STATES
