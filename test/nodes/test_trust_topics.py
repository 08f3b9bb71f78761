# SPDX-License-Identifier: Apache-2.0

"""Policies are told as soon as they are there, with how far each may be trusted."""

from __future__ import annotations

import json

from conftest import Start
from mnm_ros.messages import PolicySet
from node_processes import Peer
from std_msgs.msg import Int64MultiArray, String
from visualization_msgs.msg import MarkerArray

FIELDS = {'trust', 'expected_steps', 'at_most_steps', 'since_step', 'why',
          'expected_seconds'}


def test_policies_before_the_first_hypothesis(peer: Peer, start: Start) -> None:
    provisional = peer.listen(Int64MultiArray, 'provisional_policies')
    told = peer.listen(String, 'trust')
    policies = peer.listen(Int64MultiArray, 'policies')
    drawn = peer.listen(MarkerArray, 'exploration_markers')
    start('cmp_sim', scenario='two_rooms', latency=0.002)
    start('explorer', actions=['east', 'west', 'south', 'north'])
    peer.wait_for(lambda: policies and told[-1].data.count('proven') > 5, 'a hypothesis', 120.0)
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
    # By the mean times of the steps of cmp_sim, which waits 2 ms in each.
    slow = [each['expected_seconds'] / each['expected_steps'] for each in proven.values()
            if each['expected_steps']]
    assert slow and all(0.001 < seconds < 1.0 for seconds in slow)
    assert all(each['at_most_steps'] == 8.0 for state, each in proven.items()
               if state != str(hypothesis.targets[0]))
