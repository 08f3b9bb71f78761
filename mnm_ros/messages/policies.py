# SPDX-License-Identifier: Apache-2.0

"""Known states, policies and the counted transitions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain
from typing import NamedTuple

from mnm_ros.core.errors import MessageError
from mnm_ros.core.model.policy import Hypothesis, Policy
from mnm_ros.core.model.problem import RESET
from mnm_ros.messages.layout import check_distinct, check_length, encode, sizes
from std_msgs.msg import Int64MultiArray


def encode_known_states(hypothesis: Hypothesis) -> Int64MultiArray:
    """Return the ids of the known states in the order in which they became known."""
    known = hypothesis.targets
    return encode({'state': len(known)}, hypothesis.version, (known,))


def decode_known_states(message: Int64MultiArray) -> tuple[tuple[int, int], tuple[int, ...]]:
    """Return ``((round, revision), ids)``."""
    size, = sizes('known_states', message, ('state',))
    check_length('known_states', message, 2, size)
    known = tuple(message.data[2:])
    check_distinct('known_states', known)
    return (message.data[0], message.data[1]), known


def are_few(policies: Sequence[Policy], up_to: int) -> bool:
    """Return whether their message is no larger than one of ``up_to`` stationary policies."""
    return _rows(policies) * len(policies) ** 2 <= up_to ** 2


def _rows(policies: Sequence[Policy]) -> int:
    """Return how many rows each of them takes in a message."""
    return max((len(policy.actions) for policy in policies), default=1)


class PolicySet(Hypothesis):
    """The published hypothesis: one policy for each known state."""

    @classmethod
    def of(cls, hypothesis: Hypothesis) -> PolicySet:
        """Return a hypothesis as one that can be encoded."""
        return cls(hypothesis.round, hypothesis.revision, hypothesis.horizon, hypothesis.policies)

    @classmethod
    def from_msg(cls, message: Int64MultiArray) -> PolicySet:
        """Decode a ``policies`` message; MessageError if it is malformed."""
        name = 'policies'
        targets, steps, states = sizes(name, message, ('target', 'step', 'state'))
        if targets != states:
            raise MessageError(
                f'{name}: dimension target is {targets} and state is {states}, expected equal')
        head = 3 + states
        check_length(name, message, head, targets * steps * states)
        round_, revision, horizon = message.data[:3]
        known = tuple(message.data[3:head])
        check_distinct(name, known)
        actions = tuple(message.data[head:])
        _check_policies(name, horizon, steps, actions)
        rows = [actions[start:start + states]
                for start in range(0, targets * steps * states, states or 1)]
        return cls(round_, revision, horizon, tuple(
            Policy(target, horizon, known, tuple(rows[i * steps:(i + 1) * steps]))
            for i, target in enumerate(known)))

    def to_msg(self) -> Int64MultiArray:
        """Encode as a ``policies`` message; stationary policies take one row if all are."""
        count, steps = len(self.policies), _rows(self.policies)
        rows = (policy.actions * (steps if len(policy.actions) == 1 else 1)
                for policy in self.policies)
        return encode(
            {'target': count, 'step': steps, 'state': count},
            (*self.version, self.horizon, *self.targets),
            chain.from_iterable(rows))


class PolicyAnswer(NamedTuple):
    """
    One policy of the published hypothesis, as it was asked for.

    :ivar version: ``(round, revision)`` of the hypothesis.
    :ivar target: the state that was asked for.
    :ivar policy: leads there; None if the state is not known.
    """

    version: tuple[int, int]
    target: int
    policy: Policy | None


def encode_policy(hypothesis: Hypothesis, target: int) -> Int64MultiArray:
    """Return the policy for ``target``, or that there is none."""
    known = hypothesis.targets
    rows = hypothesis.policy_for(target).actions if target in known else ()
    return encode(
        {'step': len(rows), 'state': len(known)},
        (*hypothesis.version, hypothesis.horizon, target, *known), rows)


def decode_policy(message: Int64MultiArray) -> PolicyAnswer:
    """Decode an answer on ``policy``; MessageError if it is malformed."""
    name = 'policy'
    steps, states = sizes(name, message, ('step', 'state'))
    head = 4 + states
    check_length(name, message, head, steps * states)
    round_, revision, horizon, target = message.data[:4]
    known, actions = tuple(message.data[4:head]), tuple(message.data[head:])
    check_distinct(name, known)
    if not steps:
        return PolicyAnswer((round_, revision), target, None)
    _check_policies(name, horizon, steps, actions)
    return PolicyAnswer((round_, revision), target, Policy(target, horizon, known, tuple(
        actions[step * states:(step + 1) * states] for step in range(steps))))


class Model(NamedTuple):
    """
    The transitions that have been counted.

    :ivar steps: how many had been made by then, those forgotten since a change included.
    :ivar counts: state to action (RESET included) to next state to how often.
    """

    steps: int
    counts: dict[int, dict[int, dict[int, int]]]


def encode_model(steps: int, rows: Iterable[Sequence[int]]) -> Int64MultiArray:
    """
    Return the counted transitions.

    :param steps: made so far.
    :param rows: of state, action, next state and count, in any order.
    """
    entries = sorted(map(tuple, rows))
    return encode({'transition': len(entries), 'entry': 4}, (steps,),
                   (tuple(chain.from_iterable(entries)),))


def decode_model(message: Int64MultiArray) -> Model:
    """Decode a ``model`` message; MessageError if it is malformed."""
    size, entries = sizes('model', message, ('transition', 'entry'))
    if entries != 4:
        raise MessageError(f'model: dimension entry is {entries}, expected 4')
    check_length('model', message, 1, 4 * size)
    counts: dict[int, dict[int, dict[int, int]]] = {}
    data = message.data
    for start in range(1, len(data), 4):
        state, action, following, count = data[start:start + 4]
        if action < RESET or count < 1:
            raise MessageError(
                f'model: action {action} in state {state} led {count} times to {following}, '
                f'expected an action of at least {RESET} and a count of at least 1')
        nexts = counts.setdefault(state, {}).setdefault(action, {})
        if following in nexts:
            raise MessageError(
                f'model: action {action} in state {state} leads twice to '
                f'{following}, expected each transition once')
        nexts[following] = count
    return Model(data[0], counts)


def _check_policies(name: str, horizon: int, steps: int, actions: Sequence[int]) -> None:
    if horizon < 1:
        raise MessageError(f'{name}: horizon is {horizon}, expected at least 1')
    if steps not in (1, horizon):
        raise MessageError(
            f'{name}: dimension step is {steps}, expected 1 or the horizon {horizon}')
    if actions and min(actions) < RESET:
        raise MessageError(
            f'{name}: action {min(actions)}, expected {RESET} for RESET or at least 0')
