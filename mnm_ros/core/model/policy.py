# SPDX-License-Identifier: Apache-2.0

"""Policies as values: what to play at each step in each known state, RESET elsewhere."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from operator import itemgetter
from threading import Lock
from typing import Any
from weakref import WeakValueDictionary

from mnm_ros.core.model.problem import RESET


class StateOrder:
    """
    The columns of states in rows of actions, kept once for all policies over the same states.

    A map of its own for each of 1,000 policies over 1,000 states takes 50 MB. The order only ever
    grows at its end: a policy over the first ``n`` states shares it with those over more, and
    takes a column from ``n`` on for a state that it does not know.

    :ivar states: all states so far.
    :ivar column: the place of each of them in ``states``.
    """

    SHARED = True    # among policies: a snapshot that is read makes its own, and changes none

    def __init__(self) -> None:
        self.states: tuple[int, ...] = ()
        self.column: dict[int, int] = {}


_orders: WeakValueDictionary[tuple[int, ...], StateOrder] = WeakValueDictionary()
"""By the states of policies; these policies alone keep an order alive."""

_lock = Lock()    # a plan may be made in another thread


def _order_of(states: tuple[int, ...]) -> StateOrder:
    """Return the order of policies over these states, or over all but the last, or a new one."""
    with _lock:
        order = _orders.get(states)
        if order is not None:
            return order
        if len(set(states)) != len(states):
            raise ValueError('a state is listed twice, expected distinct states')
        count = len(states)
        order = _orders.get(states[:-1])
        if order is None or order.states[count - 1:count] not in ((), states[-1:]):
            order = StateOrder()
        grown = len(order.states)
        if count > grown:
            order.column.update(zip(states[grown:], range(grown, count)))
            order.states = states
        _orders[states] = order
        return order


@dataclass(frozen=True)
class Policy:
    """
    How to reach ``target`` from home; immutable and comparable.

    :ivar target: the state to reach.
    :ivar horizon: steps after which an attempt that has not arrived is given up with a RESET.
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
            raise ValueError(f'horizon is {self.horizon}, expected at least 1')
        if len(self.actions) not in (1, self.horizon):
            raise ValueError(
                f'{len(self.actions)} rows of actions, expected 1 or the horizon {self.horizon}')
        for row in self.actions:
            if len(row) != len(self.states):
                raise ValueError(
                    f'{len(row)} actions in a row, expected one for each of '
                    f'{len(self.states)} states')
        object.__setattr__(self, '_order', _order_of(self.states))

    def action(self, step: int, state: int) -> int:
        """
        Return the action at ``step`` of an attempt (0-based) in ``state``.

        The attempt is over, and RESET is due, after ``horizon`` steps and outside ``states``.
        """
        column = self._order.column.get(state, len(self.states))
        if column >= len(self.states) or step >= self.horizon:
            return RESET
        return self.actions[step if len(self.actions) > 1 else 0][column]

    def covers(self, state: int) -> bool:
        """Return whether the policy knows what to do in ``state``."""
        return self._order.column.get(state, len(self.states)) < len(self.states)

    def on(self, states: Iterable[int]) -> Policy:
        """Return the same policy confined to ``states``: RESET where it knew nothing."""
        kept = tuple(states)
        if kept == self.states:
            return self
        return self.moved(kept, self.columns(kept))

    def columns(self, states: tuple[int, ...]) -> tuple[int, ...]:
        """Return where in its rows the policy has each state; one more than it has: nowhere."""
        count, column = len(self.states), self._order.column
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
        if self._order is other._order:    # one lists the first of the states of the other
            few, many = sorted((self, other), key=lambda policy: len(policy.states))
            more = (RESET,) * (len(many.states) - len(few.states))
            return (few.target, few.horizon, len(few.actions)) == (
                many.target, many.horizon, len(many.actions)) and all(
                (*few_row, *more) == row for few_row, row in zip(few.actions, many.actions))
        return other.on(self.states) == self and self.on(other.states) == other


def over_own_targets(policies: Iterable[Policy]) -> tuple[Policy, ...]:
    """Return the policies, all over the states that they lead to: one and the same tuple."""
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
    return tuple(moved)


@dataclass(frozen=True)
class Hypothesis:
    """
    What is known: one policy per known state, all over the same states.

    :ivar round, revision: grow lexicographically with every change.
    :ivar horizon: of every policy, in steps.
    :ivar policies: in the order in which their targets became known, home first.
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
                raise ValueError(
                    f'the policy for {policy.target} covers {policy.states}, '
                    f'expected {targets}')
            if policy.horizon != self.horizon:
                raise ValueError(
                    f'the policy for {policy.target} has horizon {policy.horizon}, '
                    f'expected {self.horizon}')

    @property
    def targets(self) -> tuple[int, ...]:
        """Return the known states ``K``."""
        return tuple(policy.target for policy in self.policies)

    @property
    def stamp(self) -> tuple[int, int]:
        """``(round, revision)``; equal stamps mean the same hypothesis."""
        return self.round, self.revision

    def to_state(self) -> dict[str, Any]:
        """Return all of it as plain data."""
        return {'round': self.round, 'revision': self.revision, 'horizon': self.horizon,
                'known': list(self.targets),
                'policies': [[list(row) for row in policy.actions] for policy in self.policies]}

    @classmethod
    def from_state(cls, state: Mapping[str, Any]) -> Hypothesis:
        """Return the hypothesis that ``to_state`` was called on."""
        known, horizon = tuple(state['known']), state['horizon']
        return cls(state['round'], state['revision'], horizon, tuple(
            Policy(target, horizon, known, tuple(map(tuple, actions)))
            for target, actions in zip(known, state['policies'])))

    def policy_for(self, target: int) -> Policy:
        """Return the policy that reaches ``target``; KeyError if it is not known."""
        for policy in self.policies:
            if policy.target == target:
                return policy
        raise KeyError(target)
