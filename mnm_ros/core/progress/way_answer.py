# SPDX-License-Identifier: Apache-2.0

"""The answers of the explorer on ``way``: how a state is reached from elsewhere than home."""

from __future__ import annotations

from dataclasses import dataclass
import json
from typing import Any, Union

from mnm_ros.core.errors import InvalidValueError
from mnm_ros.core.model.direct_way import DirectWay
from mnm_ros.core.model.policy import Policy
from mnm_ros.core.progress.json_values import (
    by_state,
    integer,
    load,
    maybe,
    number,
    read_object,
    wrong,
)


@dataclass(frozen=True)
class WayAnswer:
    """
    The answer to ``way/request``.

    :ivar target: that was asked for.
    :ivar last_order: the sequence number of the last command of the explorer, which was answered;
        0 if there was no command, and None if the robot may be executing one.
    :ivar way: None if none is known.
    """

    target: int
    last_order: Union[int, None]
    way: Union[DirectWay, None]


def to_json(answer: WayAnswer) -> str:
    """Return it as one JSON object."""
    way = answer.way
    return json.dumps({
        'target': answer.target, 'last_order': answer.last_order,
        **({} if way is None else {
            'by_home': round(way.by_home, 2), 'limit': way.limit, 'horizon': way.policy.horizon,
            'from': {str(state): {'action': action,
                                  'expected_steps': round(way.expected_steps[state], 2)}
                     for state, action in zip(way.policy.states, way.policy.actions[0])}})})


def from_json(message: str) -> WayAnswer:
    """
    Read what ``to_json`` has returned.

    :raises ValueError: says which entry is wrong and what was expected.
    """
    given = read_object('way', load('way', message), {
        'target': integer, 'last_order': maybe(integer), 'by_home': number, 'limit': number,
        'horizon': integer, 'from': by_state('state', _move)})
    if 'target' not in given:
        raise InvalidValueError('way: no "target", expected the state that was asked for')
    way = None
    if {'by_home', 'limit', 'horizon', 'from'} <= given.keys():
        moves = given['from']
        way = DirectWay(
            Policy(given['target'], given['horizon'], tuple(moves),
                   (tuple(action for action, _ in moves.values()),)),
            {state: steps for state, (_, steps) in moves.items()},
            given['by_home'], given['limit'])
    return WayAnswer(given['target'], given.get('last_order'), way)


def _move(what: str, found: Any) -> tuple[int, float]:
    given = read_object(what, found, {'action': integer, 'expected_steps': number})
    if len(given) < 2 or given['action'] < 0:
        raise wrong(what, found, '"action", at least 0, and "expected_steps"')
    return given['action'], given['expected_steps']
