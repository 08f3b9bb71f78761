# SPDX-License-Identifier: Apache-2.0

"""Policies as values: what to play at each step in each known state, RESET elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from operator import itemgetter
from reprlib import repr as shortened
from typing import Any

from mnm_ros.core.errors import InvalidTypeError, InvalidValueError, UnknownStateError
from mnm_ros.core.model.declaration import first_of
from mnm_ros.core.model.problem import RESET

_SHOWN = 10    # targets in an error


@dataclass(frozen=True, eq=False)
class StateOrder:
    """
    Where states stand in rows of actions; the map is made when it is first asked for.

    The policies of a hypothesis share one order: a map of its own for each of 1,000 policies over
    1,000 states takes 50 MB.

    :ivar states: as a policy lists them.
    :raises ValueError: if one is listed twice.
    """

    states: tuple[int, ...]

    def __post_init__(self) -> None:
        if len(set(self.states)) != len(self.states):
            twice = next(state for state in self.states if self.states.count(state) > 1)
            raise InvalidValueError(f'state {twice} is listed twice, expected distinct states')

    @cached_property
    def column(self) -> Mapping[int, int]:
        """Return the place of each state."""
        return {state: column for column, state in enumerate(self.states)}


@dataclass(frozen=True)
class Policy:
    """
    How to reach ``target`` from home; immutable and comparable.

    :ivar target: the state to reach.
    :ivar horizon: steps after which an attempt that has not arrived is abandoned with a RESET.
    :ivar states: the known states, without repetition; elsewhere the policy plays RESET.
    :ivar actions: one row for a stationary policy, else ``horizon`` rows; each has one action per
        entry of ``states``.
    :raises ValueError: if the shape does not fit.
    """

    target: int
    horizon: int
    states: tuple[int, ...]
    actions: tuple[tuple[int, ...], ...]
    _order: StateOrder = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if self.horizon < 1:
            raise InvalidValueError(f'horizon is {self.horizon}, expected at least 1')
        if len(self.actions) not in (1, self.horizon):
            raise InvalidValueError(
                f'{len(self.actions)} rows of actions, expected 1 or the horizon {self.horizon}')
        for row in self.actions:
            if len(row) != len(self.states):
                raise InvalidValueError(
                    f'{len(row)} actions in a row, expected one for each of '
                    f'{len(self.states)} states')
        object.__setattr__(self, '_order', StateOrder(self.states))

    def action(self, step: int, state: int) -> int:
        """
        Return the action at ``step`` of an attempt (0-based) in ``state``.

        The attempt is over, and RESET is due, after ``horizon`` steps and outside ``states``.
        """
        column = self._order.column.get(state, len(self.states))
        if column >= len(self.states) or step >= self.horizon:
            return RESET
        return self.actions[step if len(self.actions) > 1 else 0][column]

    def predict(self, observation: Any, state: Any = None, episode_start: Any = None,
                deterministic: bool = True) -> tuple[Any, Any]:
        """
        Return actions as Stable-Baselines3 asks for them: ``predict(state)`` is (action, None).

        RESET is the action -1, which a Gymnasium environment plays as ``reset``. A policy that
        goes by the step, as those of the preset ``paper`` do, returns the next step in place of
        None: give it back as ``state``, as to a recurrent policy.

        :param observation: a state, or an array of states, of environments of the same kind.
            In unknown states the action is RESET.
        :param state: what the last call returned beside the actions; None at home.
        :param episode_start: where an episode has just begun, in the shape of ``observation``.
        :param deterministic: of no effect, as these policies are.
        :raises InvalidTypeError: if ``observation`` holds anything but integers.
        """
        import numpy as np  # what only asks for help does without

        try:
            here = np.asarray(observation)
        except ValueError:    # the rows of a list differ in length
            here = np.empty(1, dtype=object)
        if here.size and here.dtype.kind not in 'iu':
            raise InvalidTypeError(
                f'observation is {shortened(observation)}, expected a state, or an array of '
                'states')
        step = np.zeros(here.shape, dtype=np.int64) + (0 if state is None else state)
        if episode_start is not None:
            step = np.where(np.reshape(episode_start, here.shape), 0, step)
        played = np.array([self.action(*each) for each in zip(step.flat, here.flat)],
                          dtype=np.int64).reshape(here.shape)
        after = None if len(self.actions) == 1 else np.where(played == RESET, 0, step + 1)
        return (played if here.ndim else int(played)), after

    def covers(self, state: int) -> bool:
        """Return whether the policy knows what to do in ``state``."""
        return self._order.column.get(state, len(self.states)) < len(self.states)

    def plays(self, pairs: frozenset[tuple[int, int]]) -> bool:
        """Return whether it plays any of these actions in their states."""
        return any(not pairs.isdisjoint(zip(self.states, moves)) for moves in self.actions)

    def played(self, pairs: Collection[tuple[int, int]]) -> tuple[int, int] | None:
        """Return which of some pairs it plays, the first by its numbers; None if none."""
        return min((pair for moves in self.actions
                    for pair in zip(self.states, moves) if pair in pairs), default=None)

    def usual_way(self, home: int, leads: Callable[[int, int], int | None],
                  ) -> Iterator[tuple[int, int]]:
        """
        Yield the states and actions from home on, as a rule, until it arrives.

        :param leads: returns the state that an action leads to if it does not stay; None if that
            is not known, where the way ends.
        """
        here: int | None = home
        seen = set[int]()
        while here is not None and here != self.target and here not in seen:
            action = self.action(len(seen), here)
            if action == RESET:
                return
            seen.add(here)
            yield here, action
            here = leads(here, action)

    def may_play(self, home: int, after: Callable[[int, int], Iterable[int]], steps: int = 1,
                 ) -> Iterator[tuple[int, int]]:
        """
        Yield the states and actions to which it may come from home on, until it arrives.

        :param after: returns the states to which an action, which is no RESET, may lead.
        :param steps: of an attempt, of which each may be the one at which it is in a state.
        """
        met, todo = {home}, [home]
        while todo:
            here = todo.pop()
            for action in {self.action(step, here) for step in range(steps)}:
                yield here, action
                for state in () if action == RESET else after(here, action):
                    if state not in met and state != self.target and self.covers(state):
                        met.add(state)
                        todo.append(state)

    def on(self, states: Iterable[int]) -> Policy:
        """Return the same policy confined to ``states``: RESET where it knew nothing."""
        kept = tuple(states)
        if kept == self.states:
            return self
        return self.moved(kept, self.columns(kept))

    def columns(self, states: tuple[int, ...]) -> tuple[int, ...]:
        """Return where in its rows the policy has each state; one more than it has: nowhere."""
        count = len(self.states)
        if states[:count] == self.states:    # which needs no map
            return *range(count), *(count,) * (len(states) - count)
        column = self._order.column
        return tuple(min(column.get(state, count), count) for state in states)

    def moved(self, states: tuple[int, ...], columns: Sequence[int]) -> Policy:
        """Return the policy over ``states``, which it has in ``columns``."""
        pick = itemgetter(*columns) if len(columns) > 1 else (
            lambda row: tuple(row[column] for column in columns))
        return Policy(self.target, self.horizon, states,
                      tuple(pick((*row, RESET)) for row in self.actions))

    def same_as(self, other: Policy) -> bool:
        """
        Return whether both play the same everywhere, whatever states they list.

        Only an attempt ends in a state that is not listed, while it goes on after a RESET in one
        that is: one may take more steps than the other (``Detector.extend``).
        """
        few, many = sorted((self, other), key=lambda policy: len(policy.states))
        if few.states == many.states[:len(few.states)]:
            more = (RESET,) * (len(many.states) - len(few.states))
            return (few.target, few.horizon, len(few.actions)) == (
                many.target, many.horizon, len(many.actions)) and all(
                (*few_row, *more) == row for few_row, row in zip(few.actions, many.actions))
        return other.on(self.states) == self and self.on(other.states) == other


def over_own_targets(policies: Iterable[Policy]) -> tuple[Policy, ...]:
    """Return the policies, all over the states that they lead to, with one order for all."""
    policies = tuple(policies)
    targets = tuple(policy.target for policy in policies)
    moved: list[Policy] = []
    before: tuple[int, ...] | None = None
    columns: tuple[int, ...] = ()
    for policy in policies:
        if policy.states == targets:
            targets = policy.states
            moved.append(policy)
            continue
        if policy.states is not before:    # those of a hypothesis have the same states
            before = policy.states
            columns = policy.columns(targets)
        moved.append(policy.moved(targets, columns))
    for policy in moved:
        object.__setattr__(policy, '_order', moved[0]._order)
    return tuple(moved)


@dataclass(frozen=True)
class Hypothesis:
    """
    The hypothesis: one policy per known state, all over the same states.

    :ivar round, revision: grow lexicographically with every change.
    :ivar horizon: of every policy, in steps.
    :ivar policies: in the order in which their targets became known, home first; they share the
        order of their states from now on.
    :raises ValueError: if a policy does not cover exactly the targets or has another horizon.
    """

    round: int    # noqa: A003
    revision: int
    horizon: int
    policies: tuple[Policy, ...]

    def __post_init__(self) -> None:
        targets = self.targets
        for policy in self.policies:
            if policy.states != targets:
                raise InvalidValueError(
                    f'the policy for {policy.target} covers {policy.states}, '
                    f'expected {targets}')
            if policy.horizon != self.horizon:
                raise InvalidValueError(
                    f'the policy for {policy.target} has horizon {policy.horizon}, '
                    f'expected {self.horizon}')
            object.__setattr__(policy, '_order', self.policies[0]._order)

    @property
    def targets(self) -> tuple[int, ...]:
        """Return the known states ``K``."""
        return tuple(policy.target for policy in self.policies)

    @property
    def version(self) -> tuple[int, int]:
        """``(round, revision)``; equal versions mean the same hypothesis."""
        return self.round, self.revision

    def policy_for(self, target: int) -> Policy:
        """Return the policy that reaches ``target``; UnknownStateError if it is not known."""
        for policy in self.policies:
            if policy.target == target:
                return policy
        targets = first_of([*map(str, self.targets)], _SHOWN)
        raise UnknownStateError(f'state {target} has no policy, expected one of [{targets}]')
