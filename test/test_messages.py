# SPDX-License-Identifier: Apache-2.0

from __future__ import annotations

from array import array

from builtin_interfaces.msg import Time
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue
from mnm_ros import messages, PolicySet
from mnm_ros.core.errors import MessageError
from mnm_ros.core.model.policy import Hypothesis, Policy
from mnm_ros.core.progress.said import NoPolicyYet
from mnm_ros.core.progress.trust import LEAST
from mnm_ros.core.task.navigation import GoalReport, GoalStatus
from mnm_ros.messages import (
    decode_goals,
    decode_known_states,
    decode_model,
    decode_policy,
    decode_report,
    decode_request,
    decode_robots,
    decode_step,
    encode_goals,
    encode_known_states,
    encode_model,
    encode_policy,
    encode_request,
    encode_step,
    PolicyAnswer,
    StepEncoder,
)
from mnm_ros.protocol.exchange import Command
from mnm_ros.view.telemetry import RobotTelemetry
import pytest
from std_msgs.msg import Int64MultiArray, MultiArrayDimension, MultiArrayLayout, String

IDS = (7, -3, 2**62)


def hypothesis(steps: int = 2) -> Hypothesis:
    rows = [tuple(tuple((i + j + k) % 3 - 1 for k in range(3)) for j in range(steps))
            for i in range(3)]
    return Hypothesis(
        4, 9, 2, tuple(Policy(target, 2, IDS, row) for target, row in zip(IDS, rows)))


def message(data: list[int], offset: int = 0, **dimensions: tuple[int, int]) -> Int64MultiArray:
    return Int64MultiArray(
        layout=MultiArrayLayout(data_offset=offset, dim=[
            MultiArrayDimension(label=label, size=size, stride=stride)
            for label, (size, stride) in dimensions.items()]),
        data=array('q', data))


def test_step_there_and_back() -> None:
    assert decode_step(encode_step(2**62, -1)) == (2**62, -1)


def test_one_message_for_all_steps() -> None:
    encoder = StepEncoder()
    for seq, value in ((2**62, -1), (2**62 + 1, 3)):
        assert encoder.encode(seq, value) == encode_step(seq, value)


def test_step_honours_data_offset() -> None:
    assert decode_step(message([9, 9, 5, 6], offset=2)) == (5, 6)


@pytest.mark.parametrize('data, offset', [
    ([], 0), ([1], 0), ([1, 2, 3], 0), ([1, 2], 1), ([1, 2], 2**32 - 1)])
def test_malformed_step(data: list[int], offset: int) -> None:
    with pytest.raises(MessageError, match=f'has {len(data)} numbers, expected {offset + 2}'):
        decode_step(message(data, offset))


def test_known_states_layout() -> None:
    encoded = encode_known_states(hypothesis())
    assert list(encoded.data) == [4, 9, *IDS]
    assert encoded == message([4, 9, *IDS], 2, state=(3, 3))
    assert decode_known_states(encoded) == ((4, 9), IDS)


def test_policies_layout_for_a_plain_reader() -> None:
    learnt = hypothesis()
    encoded = PolicySet.of(learnt).to_msg()
    assert list(encoded.data[:6]) == [4, 9, 2, *IDS]
    assert encoded.layout.data_offset == 6
    labels = [(d.label, d.size, d.stride) for d in encoded.layout.dim]
    assert labels == [('target', 3, 18), ('step', 2, 6), ('state', 3, 3)]
    plain = encoded.data[encoded.layout.data_offset:]
    for i, target in enumerate(IDS):
        for j in range(2):
            for k, state in enumerate(IDS):
                entry = plain[i * encoded.layout.dim[1].stride + j * 3 + k]
                assert entry == learnt.policy_for(target).action(j, state)


@pytest.mark.parametrize('steps', [1, 2])
def test_policies_there_and_back(steps: int) -> None:
    learnt = hypothesis(steps)
    decoded = PolicySet.from_msg(PolicySet.of(learnt).to_msg())
    assert decoded == PolicySet.of(learnt)
    assert isinstance(decoded, Hypothesis)
    assert decoded.policies == learnt.policies


def test_stationary_beside_other_policies() -> None:
    """A stationary policy is repeated over the steps if another one is not stationary."""
    known = (0, 1)
    mixed = PolicySet(1, 0, 2, (
        Policy(0, 2, known, ((-1, -1),)), Policy(1, 2, known, ((0, 1), (1, 0)))))
    decoded = PolicySet.from_msg(mixed.to_msg())
    for policy in mixed.policies:
        for step in range(3):
            for state in (0, 1, 2):
                expected = policy.action(step, state)
                assert decoded.policy_for(policy.target).action(step, state) == expected


@pytest.mark.parametrize(('states', 'steps', 'few'), [
    (10, 1, True), (11, 1, False), (5, 4, True), (5, 5, False), (0, 1, True)])
def test_as_many_policies_fit_as_bytes(states: int, steps: int, few: bool) -> None:
    """With 10 states of one row each as the limit."""
    known = tuple(range(states))
    policies = tuple(Policy(target, steps, known, ((0,) * states,) * steps) for target in known)
    assert messages.are_few(policies, 10) == few
    numbers = len(PolicySet(1, 0, steps, policies).to_msg().data) - 3 - states
    assert (numbers <= 10 * 10) == few


def test_more_numbers_than_the_interpreter_keeps_ready() -> None:
    """Two integers beyond 256 that are equal are not the same object."""
    known = (0, 1)
    long = PolicySet(1, 0, 300, tuple(
        Policy(target, 300, known, ((0, 1), (1, 0)) * 150) for target in known))
    assert PolicySet.from_msg(long.to_msg()) == long


def test_a_heartbeat_is_missed_after_two_seconds() -> None:
    """As the contract promises to whoever subscribes with the same profile."""
    assert messages.HEARTBEAT.deadline.nanoseconds == 2 * 10**9
    assert messages.HEARTBEAT.liveliness_lease_duration.nanoseconds == 2 * 10**9


def test_nothing_known() -> None:
    empty = PolicySet(1, 3, 5, ())
    assert PolicySet.from_msg(empty.to_msg()) == empty
    assert decode_known_states(encode_known_states(empty)) == ((1, 3), ())


@pytest.mark.parametrize('malformed, complaint', [
    (message([4, 9, 1], 2), r"dimensions \[\], expected \['state'\]"),
    (message([4, 9, 1], 2, target=(1, 1)), r"dimensions \['target'\], expected \['state'\]"),
    (message([4, 9, 1], 2, state=(1, 2)), 'stride of dimension state is 2, expected 1'),
    (message([4, 9, 1], 0, state=(1, 1)), 'data_offset is 0, expected 2'),
    (message([4, 9], 2, state=(1, 1)), '2 numbers, expected 3'),
    (message([], 2, state=(0, 0)), '0 numbers, expected 2'),
    (message([4, 9, 1, 1], 2, state=(2, 2)), 'a state is listed twice'),
])
def test_malformed_known_states(malformed: Int64MultiArray, complaint: str) -> None:
    with pytest.raises(MessageError, match=complaint):
        decode_known_states(malformed)


def policies(
        data: list[int], offset: int = 5, target: tuple[int, int] = (2, 4),
        step: tuple[int, int] = (1, 2), state: tuple[int, int] = (2, 2)) -> Int64MultiArray:
    return message(data, offset, target=target, step=step, state=state)


GOOD = [1, 0, 3, 10, 20, -1, -1, 0, -1]


def test_good_policies() -> None:
    assert PolicySet.from_msg(policies(GOOD)).targets == (10, 20)


@pytest.mark.parametrize('malformed, complaint', [
    (None, 'policies: None, expected a message Int64MultiArray'),
    (message(GOOD, 5), r"dimensions \[\], expected \['target', 'step', 'state'\]"),
    (policies(GOOD, target=(3, 6)), 'target is 3 and state is 2, expected equal'),
    (policies(GOOD, target=(2, 2)), 'stride of dimension target is 2, expected 4'),
    (policies(GOOD, step=(1, 1)), 'stride of dimension step is 1, expected 2'),
    (policies(GOOD, state=(2, 1)), 'stride of dimension state is 1, expected 2'),
    (policies(GOOD, offset=3), 'data_offset is 3, expected 5'),
    (policies(GOOD[:-1]), '8 numbers, expected 9'),
    (policies([*GOOD, 0]), '10 numbers, expected 9'),
    (policies([1, 0, 0, *GOOD[3:]]), 'horizon is 0, expected at least 1'),
    (policies([1, 0, 3, 10, 10, *GOOD[5:]]), 'a state is listed twice'),
    (policies([*GOOD[:-1], -2]), 'action -2, expected -1 for RESET'),
    (policies([*GOOD, -1, -1, -1, -1], target=(2, 8), step=(2, 4)),
     'dimension step is 2, expected 1 or the horizon 3'),
])
def test_malformed_policies(malformed: Int64MultiArray, complaint: str) -> None:
    with pytest.raises(MessageError, match=complaint):
        PolicySet.from_msg(malformed)


def test_request_there_and_back() -> None:
    assert decode_request(encode_request(2**62, -3)) == (2**62, -3, None)
    for least in LEAST:
        assert decode_request(encode_request(7, 5, least)) == (7, 5, least)
    with pytest.raises(MessageError, match='least trust is 4, expected 0 to 3'):
        decode_request(message([1, 2, 4]))
    with pytest.raises(MessageError, match=r'goal/request has 1 numbers, expected 2: .*goal id'):
        decode_request(message([1]))


GOALS = (
    GoalReport(2**62, -3, GoalStatus.REACHED, 'reached -3 in 2 steps', 2, 1, None, 10**18, 2**60),
    GoalReport(5, None, GoalStatus.CANCELLED, 'cancelled: why', ended=7),
    GoalReport(6, 0, GoalStatus.UNDER_WAY, 'on the way to 0', 7, 3, 2.75, 9),
    GoalReport(7, 8, GoalStatus.REFUSED, 'refused 8: no policy yet', said=NoPolicyYet()))


def test_goals_there_and_back() -> None:
    encoded = encode_goals(Time(sec=3, nanosec=4), GOALS)
    assert (encoded.header.stamp.sec, encoded.header.stamp.nanosec) == (3, 4)
    assert decode_goals(encoded) == GOALS


def test_goals_for_a_plain_reader() -> None:
    reached, cancelled, under_way, refused = encode_goals(Time(), GOALS).status
    assert reached.name == str(2**62) and reached.message == 'reached -3 in 2 steps'
    assert {entry.key: entry.value for entry in under_way.values} == {
        'status': 'under_way', 'target': '0', 'steps': '7', 'attempts': '3',
        'expected_steps_left': '2.75', 'accepted': '9'}
    assert KeyValue(key='said', value='{"name": "NoPolicyYet"}') in refused.values
    assert [status.level for status in (reached, cancelled, under_way)] == [
        DiagnosticStatus.OK, DiagnosticStatus.WARN, DiagnosticStatus.OK]


@pytest.mark.parametrize('name, values', [
    ('five', {'status': 'reached'}), ('', {'status': 'reached'}), ('5', {}),
    ('5', {'status': 'gone'}), ('5', {'status': 'reached', 'target': '1.5'}),
    ('5', {'status': 'reached', 'steps': ''}),
    ('5', {'status': 'reached', 'expected_steps_left': 'few'}),
    ('5', {'status': 'refused', 'said': 'no policy yet'}),
    ('5', {'status': 'refused', 'said': '{"name": "RobotRests"}'})])
def test_malformed_goals(name: str, values: dict[str, str]) -> None:
    malformed = DiagnosticArray(status=[DiagnosticStatus(
        name=name, values=[KeyValue(key=key, value=text) for key, text in values.items()])])
    with pytest.raises(MessageError, match=f'goal/status: goal {name!r} has the values '):
        decode_goals(malformed)


@pytest.mark.parametrize('target', [-2**63, 2**63 - 1])
def test_a_refused_goal_may_be_any_int64(target: int) -> None:
    """Otherwise no client could read of any other goal, as long as that one is remembered."""
    refused = GoalReport(5, target, GoalStatus.REFUSED, f'refused {target}: unknown state')
    assert decode_goals(encode_goals(Time(), (refused, *GOALS))) == (refused, *GOALS)


def test_a_goal_with_more_than_is_known() -> None:
    """A later navigator may say more."""
    encoded = encode_goals(Time(), GOALS[:1])
    encoded.status[0].values += [
        KeyValue(key='mood', value='good'), KeyValue(key='said', value='{"name": "GoodMood"}')]
    assert decode_goals(encoded) == GOALS[:1]


@pytest.mark.parametrize('steps', [1, 2])
def test_one_policy_there_and_back(steps: int) -> None:
    learnt = hypothesis(steps)
    encoded = encode_policy(learnt, -3)
    assert list(encoded.data[:7]) == [4, 9, 2, -3, *IDS]
    assert encoded.layout.data_offset == 7
    assert decode_policy(encoded) == PolicyAnswer((4, 9), -3, learnt.policy_for(-3))
    assert decode_policy(encode_policy(learnt, 5)) == PolicyAnswer((4, 9), 5, None)


def test_a_malformed_policy_is_refused() -> None:
    with pytest.raises(MessageError, match='expected 1 or the horizon 4'):
        decode_policy(message([1, 0, 4, 7, 7, 0, 0], 5, step=(2, 2), state=(1, 1)))
    with pytest.raises(MessageError, match='expected -1 for RESET'):
        decode_policy(message([1, 0, 4, 7, 7, -2], 5, step=(1, 1), state=(1, 1)))


def test_model_layout() -> None:
    encoded = encode_model(
        812, [[7, 1, 0, 3], [-2, -1, 0, 2**40], [7, 0, 2**62, 1], [7, 1, -5, 4]])
    assert encoded == message(
        [812, -2, -1, 0, 2**40, 7, 0, 2**62, 1, 7, 1, -5, 4, 7, 1, 0, 3], 1,
        transition=(4, 16), entry=(4, 4))
    model = decode_model(encoded)
    assert model.steps == 812
    assert model.counts == {-2: {-1: {0: 2**40}}, 7: {0: {2**62: 1}, 1: {-5: 4, 0: 3}}}
    assert decode_model(encode_model(0, [])) == messages.Model(0, {})


@pytest.mark.parametrize('data, offset, sizes, reason', [
    ([5, 1, 0, 2, 3], 1, ((1, 4),), "dimensions ['transition'], expected ['transition', 'entry']"),
    ([5, 1, 0, 2, 3], 1, ((1, 3), (3, 3)), 'dimension entry is 3, expected 4'),
    ([5, 1, 0, 2, 3], 0, ((1, 4), (4, 4)), 'data_offset is 0, expected 1'),
    ([5, 1, 0, 2], 1, ((1, 4), (4, 4)), '4 numbers, expected 5'),
    ([5, 1, -2, 2, 3], 1, ((1, 4), (4, 4)), 'action -2 in state 1'),
    ([5, 1, 0, 2, 0], 1, ((1, 4), (4, 4)), 'led 0 times to 2'),
    ([5, *(1, 0, 2, 3) * 2], 1, ((2, 8), (4, 4)), 'leads twice to 2')])
def test_malformed_model(data: list[int], offset: int, sizes: tuple, reason: str) -> None:
    with pytest.raises(MessageError) as error:
        decode_model(message(data, offset, **dict(zip(('transition', 'entry'), sizes))))
    assert reason in str(error.value)


def test_the_report_of_ones_own_explorer_is_among_others() -> None:
    message = DiagnosticArray(status=[
        DiagnosticStatus(name=name, values=[KeyValue(key='steps', value=value)])
        for name, value in (('/explorer: exploration', '1'), ('/a/b/explorer: exploration', '2'),
                            ('/a/explorer: bonds', '3'), ('/a/explorer: exploration', '4'),
                            ('exploration', '5'))])
    found = [decode_report(message, namespace) for namespace in ('/', '/a', '/a/b', '/b')]
    assert found == [{'steps': '1'}, {'steps': '4'}, {'steps': '2'}, None]


def test_the_robots_of_ones_own_explorer_are_told() -> None:
    message = DiagnosticArray(status=[
        DiagnosticStatus(level=level, name=name, message='so it is', values=[
            KeyValue(key=key, value=value) for key, value in values.items()])
        for name, level, values in (
            ('/a/explorer: exploration', DiagnosticStatus.OK, {'steps': '9'}),
            ('/a/explorer: robot r1', DiagnosticStatus.OK, {'steps': '7', 'place': '-3'}),
            ('/a/explorer: robot deck/r2', DiagnosticStatus.WARN, {'steps': 'inf', 'place': ''}),
            ('/explorer: robot r1', DiagnosticStatus.OK, {}),
            ('/a/explorer: robot r3', DiagnosticStatus.STALE, {'place': '9' * 30}))])
    assert decode_robots(message, '/a') == (
        RobotTelemetry('r1', 'ok', 'so it is', 7, -3),
        RobotTelemetry('deck/r2', 'warning', 'so it is'),
        RobotTelemetry('r3', 'error', 'so it is'))
    assert decode_robots(message, '/') == (RobotTelemetry('r1', 'ok', 'so it is'),)
    assert decode_robots(message, '/b') == ()


def test_a_command_says_for_which_state_it_is_meant_and_who_sends_it() -> None:
    plain, named = messages.StepEncoder(), messages.StepEncoder('/explorer')
    assert messages.decode_command(plain.encode(7, 1)) == Command(7, 1)
    assert messages.decode_command(named.encode(7, -1)) == Command(7, -1, None, '/explorer')
    command = named.encode(7, 1, 4)
    assert messages.decode_command(command) == Command(7, 1, 4, '/explorer')
    # A reader who knows nothing of that finds the numbers where they always are.
    assert list(command.data[command.layout.data_offset:][:2]) == [7, 1]
    assert not plain.encode(7, 1).layout.dim


@pytest.mark.parametrize('report', [
    messages.StepReport(7, 'commanded by /a', '/a'), messages.StepReport(7, 'not in state 4'),
    messages.StepReport(7, legs=((4, 1, 5), (5, 1, 6)))])
def test_a_step_report_is_read_as_it_was_written(report: messages.StepReport) -> None:
    assert messages.decode_step_report(messages.encode_step_report(report)) == report


@pytest.mark.parametrize('text', [
    '7', '[]', '{}', '{"seq": "7"}', '{"seq": 7, "legs": 4}', '{"seq": 7, "legs": [4]}',
    '{"seq": 7, "legs": [[4, 1]]}', '{"seq": 7, "legs": [[4, 1, "5"]]}',
    f'{{"seq": 7, "legs": [[4, 1, {2**63}]]}}'])
def test_a_step_report_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(MessageError, match='expected a JSON object|step_report'):
        messages.decode_step_report(String(data=text))


def test_a_step_report_may_say_more() -> None:
    said = '{"seq": 7, "refused": false, "touched": true, "seconds": 2.0}'
    assert messages.decode_step_report(String(data=said)) == messages.StepReport(7)
