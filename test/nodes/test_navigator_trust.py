# SPDX-License-Identifier: Apache-2.0

"""The navigator follows policies before the first hypothesis, as far as they may be trusted."""

from __future__ import annotations

import json

from in_process import navigator_here
from mnm_ros import messages
from mnm_ros.core.task.navigation import GoalStatus
from mnm_ros.navigator_client import NavigatorClient
from navigating import KNOWN, Operator, publish
from node_processes import Peer, ScriptedRobot
import pytest
from std_msgs.msg import Int64MultiArray, String


def tell(peer: Peer, text: str) -> None:
    publisher = peer.node.create_publisher(String, 'trust', messages.LATCHED)
    publisher.publish(String(data=text))
    peer.wait_for(publisher.get_subscription_count, 'the navigator')


def trust(**states: str) -> str:
    return json.dumps({'version': [1, 1], 'states': {
        state.strip('_'): {'trust': said, 'expected_steps': 2.0, 'at_most_steps': None,
                           'since_step': 3, 'why': 'so it is said'}
        for state, said in states.items()}})


def test_as_far_as_they_may_be_trusted(
        peer: Peer, robot: ScriptedRobot, operator: Operator, monkeypatch: pytest.MonkeyPatch,
        capfd: pytest.CaptureFixture[str]) -> None:
    navigator_here(peer, monkeypatch)
    operator.wait_for_subscription()
    assert operator.go(1) == 'refused 1: no policies heard yet'
    provisional = peer.node.create_publisher(
        Int64MultiArray, 'provisional_policies', messages.LATCHED)
    provisional.publish(KNOWN.to_msg())
    tell(peer, trust(_0='proven', _1='certified', _2='assumed'))
    peer.wait_for(lambda: operator.go(1).startswith('reached 1'), 'a certified policy')
    assert operator.go(0).startswith('reached 0')    # home, which no hypothesis has to name
    assert operator.go(2) == (
        'refused 2: its policy is assumed, expected certified (least_trust): so it is said')
    assert operator.go(3) == 'refused 3: no policy for it yet'
    client = NavigatorClient(peer.node, least_trust='assumed')
    goal = client.go(2)
    peer.wait_for(lambda: goal.over, 'a goal that asks for less')
    assert goal.report.status is GoalStatus.REACHED
    assert operator.result().startswith('reached 2')
    publish(peer, KNOWN)
    peer.wait_for(lambda: operator.go(2).startswith('reached 2'), 'the hypothesis')
    assert operator.go(3) == 'refused 3: no policy leads there'
    tell(peer, trust(_0='proven', _1='proven', _2='doubted'))
    peer.wait_for(lambda: operator.go(2) == (
        'refused 2: its policy is doubted, expected certified (least_trust): so it is said'),
        'a doubt')
    assert operator.go(1).startswith('reached 1')
    tell(peer, '{"version": [1, 2], "states": {"1": {"trust": "holy"}}}')
    said: list[str] = []
    peer.wait_for(lambda: said.append(capfd.readouterr().err) or 'trust ignored' in ''.join(said),
                  'a warning')
    assert 'is "holy", expected one of proven, certified, assumed, doubted' in ''.join(said)
    assert operator.go(1).startswith('reached 1')
