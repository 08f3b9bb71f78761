# SPDX-License-Identifier: Apache-2.0

"""Policies are told as soon as they are there, with how far each may be trusted."""

from __future__ import annotations

from collections.abc import Callable
import json
import re

from diagnostic_msgs.msg import DiagnosticArray
from mnm_ros import messages
from mnm_ros.messages import PolicySet
from mnm_ros.robot_description import RobotDescription
from node_processes import Peer, ScriptedRobot
from std_msgs.msg import Int64MultiArray, String
from tiers import strength
from visualization_msgs.msg import MarkerArray

RADIUS = strength(2.5, 4.0)
FIELDS = {'trust', 'expected_steps', 'at_most_steps', 'since_step', 'why',
          'expected_seconds'}


def test_policies_before_the_first_hypothesis(peer: Peer, start: Callable) -> None:
    provisional = peer.listen(Int64MultiArray, 'provisional_policies')
    told = peer.listen(String, 'trust')
    policies = peer.listen(Int64MultiArray, 'policies')
    drawn = peer.listen(MarkerArray, 'exploration_markers')
    start('cmp_sim', scenario='two_rooms')
    start('explorer', actions=['east', 'west', 'south', 'north'], radius=RADIUS,
          delta=strength(0.5, 0.1))
    peer.wait_for(lambda: policies and told[-1].data.count('proven') > 5, 'a hypothesis')
    said = [json.loads(message.data) for message in told]
    first = next(each for each in said if any(
        state['trust'] == 'certified' for state in each['states'].values()))
    hypothesis = PolicySet.from_msg(policies[-1])
    certified = {state for state, each in first['states'].items() if each['trust'] == 'certified'}
    assert certified and len(certified) < len(hypothesis.targets)
    assert any(marker.ns == 'certified' for message in drawn for marker in message.markers)
    for each in said:
        assert all(FIELDS <= state.keys() for state in each['states'].values())
    sets = {(found.round, found.revision): found for found in map(PolicySet.from_msg, provisional)}
    common = [each for each in said if tuple(each['version']) in sets]
    assert common
    for each in common:
        found = sets[tuple(each['version'])]
        assert {str(target) for target in found.targets} == each['states'].keys()
    assert [tuple(each['version']) for each in said] == sorted(
        tuple(each['version']) for each in said)
    proven = said[-1]['states']
    assert {str(target) for target in hypothesis.targets} == {
        state for state, each in proven.items() if each['trust'] == 'proven'}
    # By the mean times of the steps of cmp_sim, which waits 5 ms in each.
    slow = [each['expected_seconds'] / each['expected_steps'] for each in proven.values()
            if each['expected_steps']]
    assert slow and all(0.001 < seconds < 1.0 for seconds in slow)
    assert all(each['at_most_steps'] == 2 * RADIUS for state, each in proven.items()
               if state != str(hypothesis.targets[0]))


def test_a_hint_is_told_at_once_with_its_reason(
        explorer: Callable, peer: Peer, robot: ScriptedRobot) -> None:
    """
    By the names that the robot side gives, and nowhere by numbers.

    The robot answers nothing more after four failures, so that no alarm follows.
    """
    told, status = peer.listen(String, 'trust'), peer.listen(String, 'status')
    doing = peer.listen(String, 'activity')
    reports = peer.listen(DiagnosticArray, '/diagnostics', 10)
    policies = peer.listen(Int64MultiArray, 'policies')
    robot_side = peer.node.create_publisher(String, 'robot_side', messages.LATCHED)
    robot_side.publish(String(data=RobotDescription(
        ('east', 'west'), names={0: 'dock', 1: 'hall', 2: 'end'}).to_text()))
    process = explorer()
    peer.wait_for(lambda: policies[-1].layout.dim[0].size == 3, 'three states')
    ways = [(0, 0), (1, 0)]

    def last_change() -> str:
        return next(each.value for each in reports[-1].status[0].values
                    if each.key == 'last_change')

    def executions(pair: tuple[int, int]) -> int:
        return sum(step[:2] == pair for step in robot.executed)
    peer.wait_for(lambda: min(map(executions, ways)) > 40, 'that they always work')
    before = {pair: executions(pair) for pair in ways}

    def stop(seq: int, state: int) -> None:
        if any(executions(pair) >= before[pair] + 4 for pair in ways):
            robot.mute = 10**9
    robot.move = lambda action: 0 if action == -1 else robot.state    # everything is blocked
    robot.around = stop
    peer.wait_for(lambda: any(re.match('"east" in .* may be blocked', each.data)
                              for each in status), 'the hint')
    reasons: list[str] = []

    def doubted() -> bool:
        # The first one may be on its way yet: topics keep no command among themselves.
        states = json.loads(told[-1].data)['states'] if told else {}
        reasons[:] = [each['why'] for each in states.values() if each['trust'] == 'doubted']
        return bool(reasons)
    peer.wait_for(doubted, 'a doubted policy')
    assert all(re.match('"east" in (dock|hall) may be blocked', why)
               and why.endswith('tries failed in a row); not certain yet')
               for why in reasons)
    peer.wait_for(lambda: reports and 'may be blocked' in last_change(), 'the report')
    sentences = [*(message.data for message in status), last_change(), *reasons,
                 *(json.loads(message.data)['sentence'] for message in doing),
                 *process.output.splitlines()]
    for told_of in ('home is dock', 'may be blocked ('):
        assert any(told_of in sentence for sentence in sentences), told_of
    assert not [sentence for sentence in sentences
                if re.search(r'\b(action|state|policy to|way to) \d', sentence)]
