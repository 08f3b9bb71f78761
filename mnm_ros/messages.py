# SPDX-License-Identifier: Apache-2.0

"""
Message layouts, both ways, and the quality-of-service profiles.

Most messages are ``std_msgs/Int64MultiArray``; ``layout.data_offset`` skips a head.

- step messages: ``[seq, action]`` and ``[seq, state]``, no head, no dimensions. For a guarded
  robot side, an action may be followed by the state that it is meant for, and the label of the
  one dimension is the name of the sender.
- work: ``[state, action, next state, seq]``, the last that of the ``state`` message that was seen,
  or without it; the first two where a step was broken off; no head, no dimensions.
- requested goals: ``[goal id, state]``, no head, no dimensions; those that the navigator hands to
  the explorer as ``encode_drive`` has them.
- known states: head ``[round, revision]``, ``dim = [state: n]``.
- policies: head ``[round, revision, horizon, id_0 .. id_(n-1)]``,
  ``dim = [target: n, step: h, state: n]``, row-major; ``h`` is 1 or ``horizon``.
- one policy: head ``[round, revision, horizon, target, id_0 .. id_(n-1)]``,
  ``dim = [step: h, state: n]``; ``h`` is 0 if there is no policy for the target.
- model: head ``[steps]``, ``dim = [transition: n, entry: 4]``; the entries are state, action (-1
  is RESET), next state and how often that was seen, in this order.
- goals: ``diagnostic_msgs/DiagnosticArray``, one status for each goal, the last to change at the
  end. ``name`` is the id of the goal, ``message`` a sentence about it, and ``values`` are the
  other fields of a ``GoalReport``, without those that are None.

Decoding is strict: a message with any other layout raises MessageError, which says what was found
and what was expected; ``hear`` drops it with a warning.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain
import json
from math import atan2, hypot, inf, prod
from reprlib import repr as shortened
import time
from typing import Any, NamedTuple, Protocol, TYPE_CHECKING, TypeVar

from builtin_interfaces.msg import Time
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue
from geometry_msgs.msg import Quaternion
from mnm_ros.core.errors import InvalidValueError, MessageError
from mnm_ros.core.model.policy import Hypothesis, Policy
from mnm_ros.core.model.problem import RESET
from mnm_ros.core.progress.json_values import load
from mnm_ros.core.progress.said import InWords, known_said, Reason, Said
from mnm_ros.core.progress.trust import from_json, LEAST, PolicyTrust, Trust
from mnm_ros.core.progress.way_answer import from_json as way_from_json
from mnm_ros.core.progress.way_answer import WayAnswer
from mnm_ros.core.task.navigation import GoalReport, GoalStatus
from mnm_ros.protocol.exchange import Command
from mnm_ros.topics import MOST_ROBOTS, ROBOT_NAME
from mnm_ros.view.telemetry import number, RobotTelemetry
from rclpy.duration import Duration
from rclpy.qos import DurabilityPolicy, LivelinessPolicy, QoSProfile, ReliabilityPolicy
from rclpy.serialization import deserialize_message
from rclpy.subscription import Subscription
from std_msgs.msg import (
    Header,
    Int64,
    Int64MultiArray,
    MultiArrayDimension,
    MultiArrayLayout,
    String,
)

_T = TypeVar('_T')
_VOLATILE, _LATCHED = DurabilityPolicy.VOLATILE, DurabilityPolicy.TRANSIENT_LOCAL


def _reliable(depth: int, durability: DurabilityPolicy, **more: Any) -> QoSProfile:
    return QoSProfile(
        depth=depth, reliability=ReliabilityPolicy.RELIABLE, durability=durability, **more)


LATCHED = _reliable(1, _LATCHED)
"""For values: a late subscriber gets the current one at once."""

LATCHED_BY_MANY = _reliable(10, _LATCHED)
"""For values of several publishers: a late subscriber gets the current one of each."""

EVENTS = _reliable(50, _LATCHED)
"""For ``events``: a late subscriber gets the last ones."""

STEP = _reliable(10, _VOLATILE)
"""For the step protocol: ``action`` and ``state``."""

TRANSFORMS = _reliable(100, _VOLATILE)
"""For ``tf``, as tf2 has it."""

STATIC_TRANSFORMS = _reliable(100, _LATCHED)
"""For ``tf_static``, to hear all that is latched there."""

LEASE = 2.0
"""Seconds without a heartbeat after which a node counts as hung or dead."""

HEARTBEAT = _reliable(
    1, _VOLATILE, deadline=Duration(seconds=LEASE),
    liveliness=LivelinessPolicy.MANUAL_BY_TOPIC, liveliness_lease_duration=Duration(seconds=LEASE))
"""For ``heartbeat``: a subscriber with the same profile is notified if the node hangs or dies."""

REQUESTS = _reliable(1000, _VOLATILE)
"""To hear ``requests`` and calls: a flood of them does not take the place of a stop."""

NAMELESS = ('', '_NODE_NAME_UNKNOWN_')
"""What a node is called that is not found yet: its endpoints are found before it."""

HEARTBEATS = _reliable(10, _VOLATILE)
"""To hear the heartbeats of several nodes, none of which takes the place of another one's."""


if TYPE_CHECKING:
    from rclpy.impl.rcutils_logger import RcutilsLogger

_QUIET = 10.0       # s, between two warnings about a topic
_MOST_SAID = 300    # characters of one
_SHORTEST = 1e-3    # length of a quaternion; what is shorter, or longer than 1000, is no rotation
_MsgT = TypeVar('_MsgT')


class _Hearing(Protocol):
    def get_logger(self) -> RcutilsLogger: ...

    def create_subscription(
        self, kind: type[_MsgT], topic: str, callback: Callable[[_MsgT], object],
        qos: QoSProfile | int, /) -> Subscription: ...


def hear(node: _Hearing, kind: type[_MsgT], topic: str, qos: QoSProfile,
         read: Callable[[_MsgT], _T],
         take: Callable[[_T], object] = lambda said: None) -> Subscription:
    """Subscribe a topic; ``read`` and ``take`` are as for ``dropping``."""
    return node.create_subscription(kind, topic, dropping(node, topic, read, take), qos)


def dropping(node: _Hearing, topic: str, read: Callable[[_MsgT], _T],
             take: Callable[[_T], object] = lambda said: None) -> Callable[[_MsgT], None]:
    """
    Return what gives each message that can be read to ``take``.

    :param read: returns what a message says; its ValueErrors become a warning, of which there is
        one in 10 s.
    """
    warned = -inf

    def taken(message: _MsgT) -> None:
        nonlocal warned
        try:
            said = read(message)
        except ValueError as error:    # MessageError among them
            if (now := time.monotonic()) > warned + _QUIET:
                warned = now
                text = str(error)
                node.get_logger().warning(f'{topic} ignored: ' + (
                    text if len(text) <= _MOST_SAID else f'{text[:_MOST_SAID]}...'))
        else:
            take(said)
    return taken


def unpack(data: bytes, kind: type[_MsgT]) -> _MsgT:
    """Return a message as it was sent; MessageError if it is torn."""
    try:
        return deserialize_message(data, kind)
    except RuntimeError as error:    # of rclpy
        raise MessageError(f'{len(data)} bytes, expected a {kind.__name__}: {error}') from None


def plain(text: str) -> str:
    """Return a text of any node as one line that a terminal shows and does not obey."""
    return text if text.isprintable() else ''.join(
        each if each.isprintable() else ' ' for each in text)


def yaw_of(turn: Quaternion) -> float | None:
    """Return the yaw of a rotation in rad; None of what is too short or too long to be one."""
    if not _SHORTEST < hypot(turn.x, turn.y, turn.z, turn.w) < 1 / _SHORTEST:
        return None
    return atan2(2 * (turn.w * turn.z + turn.x * turn.y),    # of any length
                 turn.w * turn.w + turn.x * turn.x - turn.y * turn.y - turn.z * turn.z)


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
    sender = plain(dimensions[0].label[:_MOST_SAID]) if dimensions else ''
    if message.layout.data_offset == 0 and len(message.data) == 3:
        _check_type('action', message, Int64MultiArray)
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
    return _pair('step message', '[seq, value]', message)


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


def encode_request(goal_id: int, state: int, least: Trust | None = None) -> Int64MultiArray:
    """Return ``[goal id, state]``, and how many trusts are above the least that will do."""
    message = encode_step(goal_id, state)
    if least is not None:
        message.data.append(least.rank)
    return message


def decode_request(message: Int64MultiArray) -> tuple[int, int, Trust | None]:
    """Return ``(goal id, state, least trust)``, None for that of the navigator."""
    trusts, last = LEAST, message.layout.data_offset + 2
    if len(message.data) != last + 1:
        return (*_pair('goal/request', '[goal id, state]', message), None)
    goal_id, state, rank = message.data[last - 2:]
    if not 0 <= rank < len(trusts):
        raise MessageError(f'goal/request: least trust is {rank}, expected 0 to {len(trusts) - 1}')
    return goal_id, state, trusts[rank]


class StepReport(NamedTuple):
    """
    What a robot side says of an order.

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
    said = InWords(reason) if reason and isinstance(reason, str) else reason
    return String(data=json.dumps(said.to_plain()) if isinstance(said, Said) else '')


def decode_reason(message: String) -> Reason:
    """Return what ``rest/reason`` says; empty if the robot does not rest."""
    return known_said('reason', load('reason', message.data)) if message.data else ''


def decode_step_report(message: String) -> StepReport:
    """Return what a ``step_report`` says."""
    _check_type('step_report', message, String)
    report = load('step_report', message.data)
    report = report if isinstance(report, dict) else {}
    seq, legs = report.get('seq'), report.get('legs', [])
    if type(seq) is not int or not isinstance(legs, list) or not all(
            isinstance(leg, list) and len(leg) == 3 and all(
                type(number) is int and abs(number) < 2**63 for number in leg) for leg in legs):
        raise MessageError(f'step_report: {shortened(message.data)}, expected a JSON object with '
                           'an integer seq, and legs, if any, [[state, action, next], ...]')
    refused, commander = (plain(str(report.get(key) or '')[:_MOST_SAID])
                          for key in ('refused', 'commander'))
    return StepReport(seq, refused, commander, tuple(
        (state, action, after) for state, action, after in legs))


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
    _check_type('goal/drive', message, Int64MultiArray)
    data = message.data[message.layout.data_offset:]
    if len(data) != 5 or data[2] < 0 or data[3] not in (0, 1) or data[4] < 0:
        raise MessageError(f'goal/drive: {shortened(list(data))}, expected [goal id, state, ms to '
                           'stay, 1 or 0 for direct, most steps]')
    return DriveGoal(data[0], data[1], data[2] / 1000, bool(data[3]), data[4])


def decode_trust(message: String) -> tuple[tuple[int, int], dict[int, PolicyTrust]]:
    """Return ``(round, revision)`` of provisional policies, and what is told by state."""
    _check_type('trust', message, String)
    return from_json(message.data)


def decode_way(message: String) -> WayAnswer:
    """Return an answer on ``way``."""
    _check_type('way', message, String)
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
                          by=plain(values.get('by', '')), **fields)
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


def encode_known_states(hypothesis: Hypothesis) -> Int64MultiArray:
    """Return the ids of the known states in the order in which they became known."""
    known = hypothesis.targets
    return _encode({'state': len(known)}, hypothesis.version, (known,))


def decode_known_states(message: Int64MultiArray) -> tuple[tuple[int, int], tuple[int, ...]]:
    """Return ``((round, revision), ids)``."""
    size, = _sizes('known_states', message, ('state',))
    _check_length('known_states', message, 2, size)
    known = tuple(message.data[2:])
    _check_distinct('known_states', known)
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
        targets, steps, states = _sizes(name, message, ('target', 'step', 'state'))
        if targets != states:
            raise MessageError(
                f'{name}: dimension target is {targets} and state is {states}, expected equal')
        head = 3 + states
        _check_length(name, message, head, targets * steps * states)
        round_, revision, horizon = message.data[:3]
        known = tuple(message.data[3:head])
        _check_distinct(name, known)
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
        return _encode(
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
    return _encode(
        {'step': len(rows), 'state': len(known)},
        (*hypothesis.version, hypothesis.horizon, target, *known), rows)


def decode_policy(message: Int64MultiArray) -> PolicyAnswer:
    """Decode an answer on ``policy``; MessageError if it is malformed."""
    name = 'policy'
    steps, states = _sizes(name, message, ('step', 'state'))
    head = 4 + states
    _check_length(name, message, head, steps * states)
    round_, revision, horizon, target = message.data[:4]
    known, actions = tuple(message.data[4:head]), tuple(message.data[head:])
    _check_distinct(name, known)
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
    return _encode({'transition': len(entries), 'entry': 4}, (steps,),
                   (tuple(chain.from_iterable(entries)),))


def decode_model(message: Int64MultiArray) -> Model:
    """Decode a ``model`` message; MessageError if it is malformed."""
    size, entries = _sizes('model', message, ('transition', 'entry'))
    if entries != 4:
        raise MessageError(f'model: dimension entry is {entries}, expected 4')
    _check_length('model', message, 1, 4 * size)
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


def _pair(name: str, layout: str, message: Int64MultiArray) -> tuple[int, int]:
    data, offset = message.data, message.layout.data_offset
    if len(data) != offset + 2:
        raise MessageError(
            f'{name} has {len(data)} numbers, expected {offset + 2}: '
            f'data_offset {offset} and {layout}')
    return data[offset], data[offset + 1]


def _encode(
        dimensions: Mapping[str, int], head: Sequence[int],
        rows: Iterable[Sequence[int]]) -> Int64MultiArray:
    sizes = tuple(dimensions.values())
    begin = len(head)
    data = array('q', (0,)) * (begin + prod(sizes))    # may be large: grown, it is copied
    data[:begin] = array('q', head)
    for row in rows:
        data[begin:begin + len(row)] = array('q', row)
        begin += len(row)
    return Int64MultiArray(
        layout=MultiArrayLayout(
            dim=[MultiArrayDimension(label=label, size=size, stride=prod(sizes[i:]))
                 for i, (label, size) in enumerate(dimensions.items())],
            data_offset=len(head)),
        data=data)


def _sizes(name: str, message: Int64MultiArray, labels: Sequence[str]) -> tuple[int, ...]:
    """Return the sizes of the dimensions; MessageError if labels or strides are wrong."""
    _check_type(name, message, Int64MultiArray)
    dimensions = message.layout.dim
    found = [dimension.label for dimension in dimensions]
    if found != list(labels):
        raise MessageError(f'{name}: dimensions {found}, expected {list(labels)}')
    sizes = tuple(dimension.size for dimension in dimensions)
    for i, dimension in enumerate(dimensions):
        if dimension.stride != prod(sizes[i:]):
            raise MessageError(
                f'{name}: stride of dimension {dimension.label} is {dimension.stride}, '
                f'expected {prod(sizes[i:])}')
    return sizes


def _check_type(name: str, message: object, kind: type) -> None:
    if not isinstance(message, kind):
        raise MessageError(f'{name}: {shortened(message)}, expected a message {kind.__name__}')


def _check_length(name: str, message: Int64MultiArray, head: int, entries: int) -> None:
    if message.layout.data_offset != head:
        raise MessageError(
            f'{name}: data_offset is {message.layout.data_offset}, expected {head}')
    if len(message.data) != head + entries:
        raise MessageError(
            f'{name}: {len(message.data)} numbers, expected {head + entries}: '
            f'a head of {head} and {entries} entries')


def _check_distinct(name: str, known: Sequence[int]) -> None:
    if len(set(known)) != len(known):
        raise MessageError(f'{name}: a state is listed twice, expected distinct ids')
