# SPDX-License-Identifier: Apache-2.0

"""Goals, and messages about goals, ways, trust and robots."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Mapping
import json
from reprlib import repr as shortened
from typing import Any, NamedTuple

from builtin_interfaces.msg import Time
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue
from mnm_ros.core.errors import InvalidValueError, MessageError
from mnm_ros.core.progress.json_values import load
from mnm_ros.core.progress.said import read_said
from mnm_ros.core.progress.trust import from_json, LEAST, PolicyTrust, Trust
from mnm_ros.core.progress.way_answer import from_json as way_from_json
from mnm_ros.core.progress.way_answer import WayAnswer
from mnm_ros.core.task.navigation import GoalReport, GoalStatus
from mnm_ros.messages.hearing import plain
from mnm_ros.messages.layout import check_type
from mnm_ros.messages.steps import encode_step
from mnm_ros.topics import MOST_ROBOTS, ROBOT_NAME
from mnm_ros.view.telemetry import number, RobotTelemetry
from std_msgs.msg import Header, Int64MultiArray, String


def encode_request(goal_id: int, state: int, least: Trust | None = None) -> Int64MultiArray:
    """Return ``[goal id, state]``, and how many trusts are above the least that will do."""
    message = encode_step(goal_id, state)
    if least is not None:
        message.data.append(least.rank)
    return message


def decode_request(message: Int64MultiArray) -> tuple[int, int, Trust | None]:
    """Return ``(goal id, state, least trust)``, None for that of the navigator."""
    data, offset = message.data, message.layout.data_offset
    if not offset + 2 <= len(data) <= offset + 3:
        raise MessageError(f'goal/request has {len(data)} numbers, expected {offset + 2}: '
                           f'data_offset {offset} and [goal id, state]')
    goal_id, state, *least = data[offset:]
    if not least:
        return goal_id, state, None
    rank, = least
    if not 0 <= rank < len(LEAST):
        raise MessageError(f'goal/request: least trust is {rank}, expected 0 to {len(LEAST) - 1}')
    return goal_id, state, LEAST[rank]


class DriveGoal(NamedTuple):
    """
    A goal for the explorer that commands the robot.

    :ivar stays: s, for which the robot stays there, in whole ms.
    :ivar direct: whether it may begin where the robot is, and not at home.
    :ivar most: steps that it may take; 0 for any number.
    """

    id: int    # noqa: A003
    target: int
    stays: float
    direct: bool
    most: int


def encode_drive(goal: DriveGoal) -> Int64MultiArray:
    """Return ``[goal id, state, ms to stay, 1 or 0 for direct, most steps]``."""
    return Int64MultiArray(data=array('q', (
        goal.id, goal.target, round(1000 * goal.stays), goal.direct, goal.most)))


def decode_drive(message: Int64MultiArray) -> DriveGoal:
    """Return the goal in a message on ``goal/drive``."""
    check_type('goal/drive', message, Int64MultiArray)
    data = message.data[message.layout.data_offset:]
    if len(data) != 5 or data[2] < 0 or data[3] not in (0, 1) or data[4] < 0:
        raise MessageError(f'goal/drive: {shortened(list(data))}, expected [goal id, state, ms to '
                           'stay, 1 or 0 for direct, most steps]')
    return DriveGoal(data[0], data[1], data[2] / 1000, bool(data[3]), data[4])


def decode_trust(message: String) -> tuple[tuple[int, int], dict[int, PolicyTrust]]:
    """Return ``(round, revision)`` of provisional policies, and the trust by state."""
    check_type('trust', message, String)
    return from_json(message.data)


def decode_way(message: String) -> WayAnswer:
    """Return an answer on ``way``."""
    check_type('way', message, String)
    return way_from_json(message.data)


def encode_goals(stamp: Time, reports: Iterable[GoalReport]) -> DiagnosticArray:
    """Return all reports as one message; what has gone wrong has another level than OK."""
    return DiagnosticArray(header=Header(stamp=stamp), status=[
        DiagnosticStatus(
            level=_LEVELS.get(report.status, DiagnosticStatus.OK), name=str(report.id),
            message=report.text,
            values=[KeyValue(key=key, value=text) for key, text in _goal_values(report)])
        for report in reports])


def decode_goals(message: DiagnosticArray) -> tuple[GoalReport, ...]:
    """Return the reports in a message on ``goal/status``, that of the last change at the end."""
    return tuple(map(_decode_goal, message.status))


def decode_report(message: DiagnosticArray, namespace: str) -> dict[str, str] | None:
    """Return the figures of the explorer in a namespace; None if the diagnostics are of others."""
    for status in message.status:
        node, _, kind = status.name.rpartition(': ')
        if kind == 'exploration' and (node.rpartition('/')[0] or '/') == namespace:
            return {entry.key: entry.value for entry in status.values}
    return None


def decode_robots(message: DiagnosticArray, namespace: str) -> tuple[RobotTelemetry, ...]:
    """Return how the robots of the explorer in a namespace are, if it has several."""
    found: list[RobotTelemetry] = []
    for status in message.status:
        node, said, name = status.name.partition(': robot ')
        if said and (node.rpartition('/')[0] or '/') == namespace:
            if not ROBOT_NAME.fullmatch(name):
                raise MessageError(
                    f'diagnostics: robot {name!r}, expected a namespace, such as '
                    'r1 or deck/r2')
            if len(found) == MOST_ROBOTS:
                raise MessageError(f'diagnostics: more than {MOST_ROBOTS} robots, expected fewer')
            values = {entry.key: entry.value for entry in status.values}
            found.append(RobotTelemetry(
                name, _LEVEL_NAMES.get(status.level, 'error'), plain(status.message),
                _integer(values.get('steps', '')), _integer(values.get('place', '')),
                number(values, 'unanswered') or 0.0))
    return tuple(found)


def _integer(text: str) -> int | None:
    try:
        value = int(text)
    except ValueError:
        return None
    return value if abs(value) < 2**63 else None


_LEVEL_NAMES = {DiagnosticStatus.OK: 'ok', DiagnosticStatus.WARN: 'warning'}


def _goal_values(report: GoalReport) -> Iterator[tuple[str, str]]:
    yield 'status', report.status.value
    if report.by:
        yield 'by', report.by
    if report.how:
        yield 'how', report.how
    if report.said:
        yield 'said', json.dumps(report.said.to_plain())
    for key in _GOAL_FIGURES:
        value = getattr(report, key)
        if value is not None:
            yield key, str(value)


def _decode_goal(status: DiagnosticStatus) -> GoalReport:
    values = {entry.key: entry.value for entry in status.values}
    try:
        fields: dict[str, Any] = {
            key: kind(values[key]) for key, kind in _GOAL_FIGURES.items() if key in values}
        if not all(-2**63 <= value < 2**63 for value in fields.values()):
            raise InvalidValueError('a number is too large, or none, expected an int64')
        return GoalReport(int(status.name), fields.pop('target', None),
                          GoalStatus(values['status']), status.message,
                          by=plain(values.get('by', '')), how=plain(values.get('how', '')),
                          said=read_said('said', load('said', values['said'])) if (
                              'said' in values) else None, **fields)
    except (KeyError, ValueError) as error:
        raise MessageError(
            f'goal/status: goal {status.name!r} has the values {values}, expected an integer, '
            f'a status and numbers: {error}') from None


_LEVELS = {
    GoalStatus.REFUSED: DiagnosticStatus.WARN, GoalStatus.CANCELLED: DiagnosticStatus.WARN,
    GoalStatus.FAILED: DiagnosticStatus.ERROR}

_GOAL_FIGURES: Mapping[str, type[int | float]] = {
    'target': int, 'steps': int, 'attempts': int, 'expected_steps_left': float,
    'expected_seconds_left': float, 'accepted': int, 'ended': int, 'stays': float}
