# SPDX-License-Identifier: Apache-2.0

"""
The knowledge at one moment: one value, whether it comes from an exploration, a file or topics.

``Exploration.knowledge`` makes it of an exploration, to which a file may have been replayed, and
``Telemetry.knowledge`` (``mnm_ros/view/telemetry.py``) of what an explorer has published. Whoever
shows what a state is asks ``Knowledge.kind``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from functools import cached_property
from typing import NamedTuple

from mnm_ros.core.knowledge.expected_plays import expected_plays, steps_of
from mnm_ros.core.model.counts import Pair
from mnm_ros.core.model.policy import Policy
from mnm_ros.core.model.problem import RESET
from mnm_ros.core.progress.trust import may_follow, PolicyTrust, Trust

Counts = Mapping[int, Mapping[int, Mapping[int, int]]]
"""State to action, RESET included, to next state to how often that was seen."""

NO_ONE_NUMBER = (
    'The promise is that no state within L is missing. A state between L and (1 + epsilon) L '
    'may be known or not, depending on base and seed.')
"""Why two explorations of one world may know different numbers of states."""

_ROUNDING = 1 + 1e-9    # of the limit, which rounding must not exceed


class StateKind(Enum):
    """The kinds of states; of several that hold, the first counts."""

    HOME = 'home'              # where RESET leads
    KNOWN = 'known'            # of the hypothesis, and not doubted
    CERTIFIED = 'certified'    # its policy keeps to the limit; others are still searched for
    LOST = 'lost'              # known or certified, until a change took that away
    DOUBTED = 'doubted'        # known or certified before, and not since a change concerns it
    CANDIDATE = 'candidate'    # met, and may become known
    ASSUMED = 'assumed'        # there is a policy, of which nothing is promised
    BEYOND = 'beyond'          # met, and farther than the radius by what is known
    MET = 'met'                # met, and not examined so far


class Transition(NamedTuple):
    """
    A counted transition.

    :ivar following: the next state.
    :ivar times: how often it followed.
    :ivar probability: how often of all the times that the action was executed there.
    """

    state: int
    action: int
    following: int
    times: int
    probability: float


class KnownOfState(NamedTuple):
    """
    The knowledge of a state; None stands for what is not known.

    :ivar told: how far its policy may be trusted, since when and why, and its bound;
        a file does not say since when.
    :ivar expected_steps: of its policy, if the counts are the truth.
    :ivar visits: how often a step has ended there, as far as that is still counted.
    :ivar name, place: as the robot side has said; the place in m.
    """

    state: int
    kind: StateKind
    told: PolicyTrust | None
    expected_steps: float | None
    policy: Policy | None
    visits: int
    name: str | None
    place: tuple[float, float] | None


@dataclass(frozen=True)
class Knowledge:
    """
    The knowledge at one moment.

    :ivar steps: made so far.
    :ivar home: None before the first RESET.
    :ivar known: states of the hypothesis, home first; empty before the first one.
    :ivar candidates: states that the run under way has met and does not know yet.
    :ivar lost: states that were known or certified before a change, and were not found again.
    :ivar revising: whether a change is open, or another hypothesis is being built.
    :ivar counts: as far as they still hold.
    :ivar here: the states that robots are in.
    :ivar policies: by target, known or not, as far as they are at hand.
    :ivar trust: how far the policy to a state may be trusted, known or not, if it is published.
    :ivar told_steps: expected steps by known state, if they are published apart from ``trust``.
    :ivar limit: expected steps that a policy may take; None if that is not known.
    :ivar names, places: of states, as far as the robot side has said them.
    :ivar closed: pairs that led to another state until a change was noticed, and stay since.
    """

    steps: int = 0
    home: int | None = None
    known: tuple[int, ...] = ()
    candidates: tuple[int, ...] = ()
    lost: tuple[int, ...] = ()
    revising: bool = False
    counts: Counts = field(default_factory=dict)
    here: tuple[int, ...] = ()
    policies: Mapping[int, Policy] = field(default_factory=dict)
    trust: Mapping[int, PolicyTrust] = field(default_factory=dict)
    told_steps: Mapping[int, float | None] = field(default_factory=dict)
    limit: float | None = None
    names: Mapping[int, str] = field(default_factory=dict)
    places: Mapping[int, tuple[float, float]] = field(default_factory=dict)
    closed: tuple[Pair, ...] = ()

    @cached_property
    def kinds(self) -> Mapping[int, StateKind]:
        """Return what each state is: home first, as they became known, then by their ids."""
        by_trust = {trust: [state for state, told in self.trust.items() if told.trust is trust]
                    for trust in Trust}
        settled = bool(self.known) and not self.revising
        home = () if self.home is None else (self.home,)
        found = dict.fromkeys(self.seen, StateKind.BEYOND if settled else StateKind.MET)
        for kind, states in (
                (StateKind.ASSUMED, by_trust[Trust.ASSUMED]),
                # Checks meet again and again what is too far away: that is no news.
                (StateKind.CANDIDATE, () if settled else self.candidates),
                (StateKind.DOUBTED, by_trust[Trust.DOUBTED]), (StateKind.LOST, self.lost),
                (StateKind.CERTIFIED, by_trust[Trust.CERTIFIED]), (StateKind.KNOWN, self.known),
                (StateKind.DOUBTED, {*self.known}.intersection(by_trust[Trust.DOUBTED])),
                (StateKind.HOME, home)):
            found.update(dict.fromkeys(states, kind))
        return {state: found[state] for state in dict.fromkeys((
            *home, *self.known, *sorted(found)))}

    def of(self, *kinds: StateKind) -> tuple[int, ...]:
        """Return the states of some kinds, in the order of ``kinds``."""
        return tuple(state for state, kind in self.kinds.items() if kind in kinds)

    @cached_property
    def goals(self) -> Mapping[int, None]:
        """Return the states that a robot may be sent to if nobody asks for less trust."""
        known = {*self.known, *((self.home,) if self.home in self.trust else ())}
        return {state: None for state in self.kinds
                if may_follow(self.trust.get(state), state in known)}

    @cached_property
    def seen(self) -> Mapping[int, None]:
        """Return the states that were met, as far as that is still counted, in its order."""
        found: dict[int, None] = {}
        for state, actions in self.counts.items():
            found[state] = None
            for following in actions.values():
                found.update(dict.fromkeys(following))
        return {**found, **dict.fromkeys(self.here)}

    def state(self, state: int) -> KnownOfState | None:
        """Return all that is known of a state; None if that is nothing."""
        kind = self.kinds.get(state)
        return None if kind is None else KnownOfState(
            state, kind, self.trust.get(state), self.steps_to(state), self.policies.get(state),
            self.visits.get(state, 0), self.names.get(state), self.places.get(state))

    def steps_to(self, state: int) -> float | None:
        """Return the estimated expected steps of the policy to a state; None if unknown."""
        told, policy = self.trust.get(state), self.policies.get(state)
        found = self.told_steps.get(state)
        if found is None and told is not None:
            found = told.expected_steps
        if found is None and policy is not None and self.home is not None:
            found = steps_of(expected_plays(policy, self.home, self.next_states))
        return found

    def over_limit(self, state: int) -> bool:
        """Return whether the policy takes more steps than it may, as estimated from the counts."""
        steps = self.steps_to(state)
        return steps is not None and self.limit is not None and steps > self.limit * _ROUNDING

    @cached_property
    def visits(self) -> Mapping[int, int]:
        """Return how often a step has ended in each state."""
        found: dict[int, int] = {}
        for actions in self.counts.values():
            for nexts in actions.values():
                for after, count in nexts.items():
                    found[after] = found.get(after, 0) + count
        return found

    def next_states(self, state: int, action: int) -> Mapping[int, int]:
        """Return how often each next state has followed."""
        return self.counts.get(state, {}).get(action, {})

    def successors(self, state: int) -> Iterator[tuple[int, int, int]]:
        """Yield where actions but RESET have led to: action, state, how often."""
        for action, following in self.counts.get(state, {}).items():
            if action != RESET:
                for after, count in following.items():
                    yield action, after, count

    def after(self, state: int, action: int) -> tuple[Transition, ...]:
        """Return where an action has led to from a state."""
        nexts = self.next_states(state, action)
        return tuple(Transition(state, action, following, count, count / sum(nexts.values()))
                     for following, count in sorted(nexts.items()))

    def on_the_way(self, policy: Policy) -> dict[Pair, Mapping[int, int]]:
        """Return what a policy plays in the states through which it leads, and what followed."""
        assert self.home is not None
        here, before = {self.home}, {self.home}
        found: dict[Pair, Mapping[int, int]] = {}
        for step in range(policy.horizon):
            after: set[int] = set()
            for state in here - {policy.target}:
                action = policy.action(step, state)
                if action != RESET:    # which is what it plays where it is not defined, too
                    seen = found[state, action] = self.next_states(state, action)
                    after |= {*seen}
            if len(policy.actions) == 1:    # where it was before, it plays the same again
                after -= before
                before |= after
            here = after
            if not here:
                break
        return found

    @property
    def transitions(self) -> tuple[Transition, ...]:
        """Return what was counted, in order of state, action and next state."""
        return tuple(transition for state, actions in sorted(self.counts.items())
                     for action in sorted(actions) for transition in self.after(state, action))


def nested(rows: Iterable[Sequence[int]]) -> Counts:
    """Return rows of state, action, next state and count as ``Counts``."""
    counts: dict[int, dict[int, dict[int, int]]] = {}
    for state, action, following, count in rows:
        counts.setdefault(state, {}).setdefault(action, {})[following] = count
    return counts
