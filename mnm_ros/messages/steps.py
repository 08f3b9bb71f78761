# SPDX-License-Identifier: Apache-2.0

"""Commands, states, work that was witnessed, and what robot sides say of a step."""

from __future__ import annotations

from array import array
import json
from reprlib import repr as shortened
from typing import NamedTuple

from mnm_ros.core.errors import MessageError
from mnm_ros.core.progress.json_values import load
from mnm_ros.core.progress.said import as_said, known_said, Reason
from mnm_ros.messages.hearing import MOST_SAID, plain
from mnm_ros.messages.layout import check_type
from mnm_ros.protocol.exchange import Command
from std_msgs.msg import Int64, Int64MultiArray, MultiArrayDimension, String


def decode_count(message: Int64) -> int:
    """Return a number of steps, or of a setting."""
    if message.data < 0:
        raise MessageError(f'found {message.data}, expected at least 0')
    return int(message.data)


def encode_step(seq: int, value: int) -> Int64MultiArray:
    """Return ``[seq, action]`` or ``[seq, state]``."""
    return Int64MultiArray(data=array('q', (seq, value)))


def decode_command(message: Int64MultiArray) -> Command:
    """Return an order on ``action``."""
    dimensions = message.layout.dim
    sender = plain(dimensions[0].label[:MOST_SAID]) if dimensions else ''
    if message.layout.data_offset == 0 and len(message.data) == 3:
        check_type('action', message, Int64MultiArray)
        seq, action, meant = message.data
        return Command(seq, action, meant, sender)
    return Command(*decode_step(message), None, sender)


class StepEncoder:
    """
    Encodes steps, each time into the same message: it has to be sent at once.

    :param sender: the name of the node, to be said to guarded robot sides.
    """

    def __init__(self, sender: str = '') -> None:
        self._message = Int64MultiArray()
        if sender:
            self._message.layout.dim = [MultiArrayDimension(label=sender)]

    def encode(self, *numbers: int) -> Int64MultiArray:
        """Return ``[seq, action]``, ``[seq, action, state]`` or ``[seq, state]``."""
        self._message.data = array('q', numbers)
        for dimension in self._message.layout.dim:
            dimension.size = dimension.stride = len(numbers)
        return self._message


def decode_step(message: Int64MultiArray) -> tuple[int, int]:
    """Return ``(seq, action)`` or ``(seq, state)``."""
    data, offset = message.data, message.layout.data_offset
    if len(data) != offset + 2:
        raise MessageError(
            f'step message has {len(data)} numbers, expected {offset + 2}: '
            f'data_offset {offset} and [seq, value]')
    return data[offset], data[offset + 1]


def encode_work(
        state: int, action: int, after: int | None, seq: int | None = None) -> Int64MultiArray:
    """Return ``[state, action, next state, seq]``, or the first two of a step broken off."""
    known = (number for number in (after, seq) if number is not None)
    return Int64MultiArray(data=array('q', (state, action, *known)))


def decode_work(message: Int64MultiArray) -> tuple[int, int, int | None, int | None]:
    """
    Return ``(state, action, next state, seq)``.

    The next state is None for a step that was broken off, ``seq`` if it is not said.
    """
    data = message.data[message.layout.data_offset:]
    if not 2 <= len(data) <= 4:
        raise MessageError(f'work has {len(data)} numbers, expected [state, action, next state, '
                           'seq of the state message], the first three, or the first two of a '
                           'step that was broken off')
    after, seq = (*data[2:], None, None)[:2]
    return data[0], data[1], after, seq


def decode_states(message: Int64MultiArray) -> tuple[int, ...]:
    """Return states, perhaps none."""
    return tuple(message.data[message.layout.data_offset:])


class StepReport(NamedTuple):
    """
    The answer of a robot side to a command.

    :ivar refused: why it was not executed; empty if it was.
    :ivar commander: the node that has the robot, if that is why.
    :ivar legs: state, action and next state of each execution that it has led to.
    """

    seq: int
    refused: str = ''
    commander: str = ''
    legs: tuple[tuple[int, int, int], ...] = ()


def encode_step_report(report: StepReport) -> String:
    """Return a ``step_report``."""
    return String(data=json.dumps({'seq': report.seq, **{
        key: value for key, value in report._asdict().items() if value and key != 'seq'}}))


def encode_reason(reason: Reason) -> String:
    """Return the message for ``rest/reason``."""
    said = as_said(reason)
    return String(data='' if said is None else json.dumps(said.to_plain()))


def decode_reason(message: String) -> Reason:
    """Return what ``rest/reason`` says; empty if the robot does not rest."""
    return known_said('reason', load('reason', message.data)) if message.data else ''


def decode_step_report(message: String) -> StepReport:
    """Return what a ``step_report`` says."""
    check_type('step_report', message, String)
    report = load('step_report', message.data)
    report = report if isinstance(report, dict) else {}
    seq, legs = report.get('seq'), report.get('legs', [])
    if type(seq) is not int or not isinstance(legs, list) or not all(
            isinstance(leg, list) and len(leg) == 3 and all(
                type(number) is int and abs(number) < 2**63 for number in leg) for leg in legs):
        raise MessageError(f'step_report: {shortened(message.data)}, expected a JSON object with '
                           'an integer seq, and legs, if any, [[state, action, next], ...]')
    refused, commander = (plain(str(report.get(key) or '')[:MOST_SAID])
                          for key in ('refused', 'commander'))
    return StepReport(seq, refused, commander, tuple(
        (state, action, after) for state, action, after in legs))
