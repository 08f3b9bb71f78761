# Copyright 2026 mnm_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0
# Unless required by applicable law or agreed to in writing, software distributed under the License
# is distributed on an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express
# or implied. See the License for the specific language governing permissions and limitations under
# the License.

"""Policies as values: what to play at each step in each known state, RESET elsewhere."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from mnm_ros.core.problem import RESET


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
    _column: dict[int, int] = field(init=False, repr=False, compare=False)

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
        column = {state: index for index, state in enumerate(self.states)}
        if len(column) != len(self.states):
            raise ValueError('a state is listed twice, expected distinct states')
        object.__setattr__(self, '_column', column)

    def action(self, step: int, state: int) -> int:
        """
        Return the action at ``step`` of an attempt (0-based) in ``state``.

        The attempt is over, and RESET is due, after ``horizon`` steps and outside ``states``.
        """
        column = self._column.get(state)
        if column is None or step >= self.horizon:
            return RESET
        return self.actions[step if len(self.actions) > 1 else 0][column]

    def covers(self, state: int) -> bool:
        """Return whether the policy knows what to do in ``state``."""
        return state in self._column

    def on(self, states: Iterable[int]) -> Policy:
        """Return the same policy confined to ``states``: RESET where it knew nothing."""
        kept = tuple(states)
        if kept == self.states:
            return self
        columns = [self._column.get(state) for state in kept]
        return Policy(
            self.target, self.horizon, kept,
            tuple(tuple(RESET if column is None else row[column] for column in columns)
                  for row in self.actions))

    def same_as(self, other: Policy) -> bool:
        """Return whether both play the same everywhere, whatever states they list."""
        return other.on(self.states) == self and self.on(other.states) == other


def over_own_targets(policies: Iterable[Policy]) -> tuple[Policy, ...]:
    """Return the policies, all over the states that they lead to."""
    policies = tuple(policies)
    targets = tuple(policy.target for policy in policies)
    return tuple(policy.on(targets) for policy in policies)


@dataclass(frozen=True)
class Hypothesis:
    """
    What is known: one policy per known state, all over the same states.

    :ivar round, revision: grow lexicographically with every change.
    :ivar horizon: of every policy, in steps.
    :ivar policies: in the order in which their targets became known, home first.
    :raises ValueError: if a policy does not cover exactly the targets or has another horizon.
    """

    round: int
    revision: int
    horizon: int
    policies: tuple[Policy, ...]

    def __post_init__(self) -> None:
        for policy in self.policies:
            if policy.states != self.targets:
                raise ValueError(
                    f'the policy for {policy.target} covers {policy.states}, '
                    f'expected {self.targets}')
            if policy.horizon != self.horizon:
                raise ValueError(
                    f'the policy for {policy.target} has horizon {policy.horizon}, '
                    f'expected {self.horizon}')

    @property
    def targets(self) -> tuple[int, ...]:
        """The known states ``K``."""
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
