# SPDX-License-Identifier: Apache-2.0

"""What an exploration has learnt, wherever it comes from, and the likely way to a state."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from heapq import heappop, heappush
from itertools import groupby
import math
from pathlib import Path
import re
from typing import NamedTuple

from mnm_ros.checkpoint.input_log import Refused, refusing, Saved
from mnm_ros.checkpoint.warm_start import begun
from mnm_ros.core.model.policy import Policy
from mnm_ros.core.model.problem import RESET
from mnm_ros.core.presets import settings_of_file
from mnm_ros.core.progress.trust import Told
from mnm_ros.robot_description import kept_beside, RobotDescription, UNDESCRIBED
from mnm_ros.simulation.cmp import TableCmp
from mnm_ros.simulation.ground_truth import expected_steps
from mnm_ros.view.heard import Counts, nested

_ENOUGH = 1 + 1e-9    # of the limit, which rounding must not exceed


class Transition(NamedTuple):
    """
    What was counted.

    :ivar following: the next state.
    :ivar times: how often it followed.
    :ivar probability: how often of all the times that the action was played there.
    """

    state: int
    action: int
    following: int
    times: int
    probability: float


@dataclass(frozen=True)
class Learnt:
    """
    What an exploration has learnt.

    :ivar source: where this comes from, in a few words.
    :ivar steps: made so far.
    :ivar known: home first.
    :ivar policies: one for each known state; without those that are not at hand.
    :ivar provisional: others, to states that are not known yet, as far as they are at hand.
    :ivar counts: since the last change that was noticed.
    :ivar candidates: states that may still become known.
    :ivar lost: states that were known before the last change noticed.
    :ivar limit: expected steps that a policy may take; None if that is not known.
    :ivar description: names of actions and states, and places of these, as far as they are known.
    :ivar told: expected steps by known state, where others have said them.
    :ivar trust: how far the policy to a state may be trusted, known or not, where it is told.
    :ivar saved: the file with the transitions one by one, if it comes from one.
    """

    source: str
    steps: int
    home: int | None
    known: tuple[int, ...]
    policies: tuple[Policy, ...]
    counts: Counts
    candidates: frozenset[int] = frozenset()
    lost: frozenset[int] = frozenset()
    limit: float | None = None
    description: RobotDescription = UNDESCRIBED
    told: Mapping[int, float | None] = field(default_factory=dict)
    trust: Mapping[int, Told] = field(default_factory=dict)
    saved: Saved | None = None
    provisional: tuple[Policy, ...] = ()

    @cached_property
    def states(self) -> tuple[int, ...]:
        """Return all states: the known ones as they became known, then the others by their ids."""
        following = {after for _, nexts in self._pairs() for after in nexts}
        home = () if self.home is None else (self.home,)
        others = {*self.counts, *following, *home, *self.lost, *self.candidates}
        return (*self.known, *sorted(others - {*self.known}))

    @property
    def beyond(self) -> tuple[int, ...]:
        """Return the states that were seen, but are too far away, by what is known so far."""
        return tuple(state for state in self.states if self.kind(state) == 'beyond')

    def kind(self, state: int) -> str:
        """Return ``home``, ``known``, ``lost``, ``candidate``, ``beyond`` or ``seen``."""
        if state == self.home:
            return 'home'
        for kind, states in (('known', self.known), ('lost', self.lost),
                             ('candidate', self.candidates)):
            if state in states:
                return kind
        return 'beyond' if self.known else 'seen'

    @cached_property
    def transitions(self) -> tuple[Transition, ...]:
        """Return what was counted, in order of state, action and next state."""
        return tuple(transition for (state, action), _ in self._pairs()
                     for transition in self.after(state, action))

    def after(self, state: int, action: int) -> tuple[Transition, ...]:
        """Return where an action has led to from a state."""
        nexts = self.counts.get(state, {}).get(action, {})
        return tuple(Transition(state, action, following, count, count / sum(nexts.values()))
                     for following, count in sorted(nexts.items()))

    def visits(self, state: int) -> int:
        """Return how often a step has ended in a state."""
        return self._visits.get(state, 0)

    def policy(self, target: int) -> Policy | None:
        """Return the policy to a state, if it is at hand."""
        return next((policy for policy in (*self.policies, *self.provisional)
                     if policy.target == target), None)

    def steps_to(self, state: int) -> float | None:
        """
        Return what the policy to a known state takes if the counts were the truth.

        None is that it is not known: there is no policy, or by the counts it never arrives.
        """
        policy = self.policy(state)
        if policy is None or self.home is None:
            return self.told.get(state)
        found = expected_steps(self._cmp, policy)
        return found if math.isfinite(found) else None

    def over_limit(self, state: int) -> bool:
        """Return whether the policy takes more steps than it may, by the counts."""
        steps = self.steps_to(state)
        return steps is not None and self.limit is not None and steps > self.limit * _ENOUGH

    def _pairs(self) -> Iterator[tuple[tuple[int, int], Mapping[int, int]]]:
        for state, actions in sorted(self.counts.items()):
            for action, nexts in sorted(actions.items()):
                yield (state, action), nexts

    @cached_property
    def _visits(self) -> Mapping[int, int]:
        visits: dict[int, int] = {}
        for _, nexts in self._pairs():
            for after, count in nexts.items():
                visits[after] = visits.get(after, 0) + count
        return visits

    @cached_property
    def _cmp(self) -> TableCmp:
        assert self.home is not None
        played = max((max(row, default=0) for policy in (*self.policies, *self.provisional)
                      for row in policy.actions), default=0)
        return TableCmp.from_counts(self.home, played + 1, dict(self._pairs()))


_NAME = re.compile(r'(.*)\.(log|\d{8})\.sqlite')


def read(path: Path, log: bool = False) -> Learnt:
    """
    Return what a file says was learnt, or a file in a folder.

    :param path: a ``*.sqlite`` in the ``checkpoint_dir`` of an explorer, or that folder.
    :param log: whether all transitions are wanted, which only a transition log has.
    :raises Refused: if there is no such file, or if it cannot be used.
    """
    saved = Saved(_file_in(path, log) if path.is_dir() else path)
    if log and (saved.point is not None or not saved.path.name.endswith('.log.sqlite')):
        raise Refused(f'{saved.path} does not begin with the exploration, expected a '
                      '*.log.sqlite that does, of an explorer with transition_log: true')
    with refusing(saved.path):
        return _learnt(saved)


def _learnt(saved: Saved) -> Learnt:
    exploration = begun(saved)
    saved.replay(exploration)
    hypothesis = exploration.hypothesis
    policies = hypothesis.policies if hypothesis is not None else ()
    known = tuple(policy.target for policy in policies)
    trusted = exploration.trust(0 if known else None)    # seconds for hundreds of states
    candidates = frozenset(exploration.candidates) - {*known}
    actions = tuple(saved.identity['actions'])
    described = kept_beside(saved.path)
    if described.actions != actions:    # nothing is kept, or of another robot
        described = RobotDescription(actions)
    return Learnt(
        str(saved.path), exploration.steps, exploration.home, known, policies,
        nested(exploration.transitions()),
        candidates if not known or exploration.under_revision else frozenset(),
        frozenset(exploration.lost), limit=settings_of_file(saved.identity).problem.limit,
        description=described, saved=saved,
        trust={told.policy.target: told for told in trusted},
        provisional=tuple(told.policy for told in trusted if told.policy.target not in known))


def _file_in(folder: Path, log: bool) -> Path:
    """Return the newest file; Refused if there is none, or if there are several explorers."""
    files = {path: match for path in folder.glob('*.sqlite')
             if (match := _NAME.fullmatch(path.name))}
    names = sorted({match[1] for match in files.values()})
    if len(names) != 1:
        raise Refused(f'{folder} has files of {len(names)} explorers'
                      f'{": " if names else ""}{", ".join(names)}, expected those of one; a file '
                      'can be named, too')
    wanted = [path for path, match in files.items() if (match[2] == 'log') == log]
    if not wanted:
        raise Refused(f'{folder} has no *.log.sqlite, expected the checkpoint_dir of an explorer '
                      'with transition_log: true' if log else f'{folder} has no checkpoint')
    return max(wanted, key=lambda path: path.stat().st_mtime)


def route(learnt: Learnt, policy: Policy) -> tuple[Transition, ...] | None:
    """
    Return the transitions by which the policy arrives with the greatest probability.

    What fails and may be tried again is not among them. None if it was never seen to arrive.
    """
    if learnt.home is None:
        return None
    stationary = len(policy.actions) == 1
    queue: list[tuple[float, int, int, tuple[Transition, ...]]] = [(0.0, 0, learnt.home, ())]
    done: set[tuple[int, int]] = set()
    while queue:    # the way of Dijkstra, as probabilities are multiplied
        cost, step, state, legs = heappop(queue)
        if state == policy.target:
            return legs
        place = state, 0 if stationary else step
        action = policy.action(step, state)
        if place in done or action == RESET:
            continue
        done.add(place)
        for leg in learnt.after(state, action):
            heappush(queue, (
                cost - math.log(leg.probability), step + 1, leg.following, (*legs, leg)))
    return None


def in_words(learnt: Learnt, legs: tuple[Transition, ...]) -> str:
    """Return the actions of a route, as in ``2 east, south``."""
    names = [learnt.description.action_name(leg.action) for leg in legs]
    runs = [(name, len(list(same))) for name, same in groupby(names)]
    return ', '.join(name if times == 1 else f'{times} {name}' for name, times in runs)
