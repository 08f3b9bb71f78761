# SPDX-License-Identifier: Apache-2.0

"""The example of a robot side is explored by a real explorer."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from mnm_ros.messages import PolicySet
from mnm_ros.simulation.cmp import MoveCmp
from mnm_ros.simulation.ground_truth import judge, reachable_states
from node_processes import Peer
from std_msgs.msg import Int64MultiArray
from std_srvs.srv import SetBool, Trigger
from tiers import strength

LIFT = Path(__file__).resolve().parents[2] / 'examples' / 'lift.py'
RADIUS = strength(2.0, 3.0)
TRUTH = MoveCmp(0, (lambda floor: min(floor + 1, 4), lambda floor: max(floor - 1, 0)), 1.0)


def test_explored_until_the_hypothesis_is_right(start: Callable, peer: Peer) -> None:
    start(str(LIFT), seconds_per_floor=0.002)
    start('explorer', actions=['up', 'down'], radius=RADIUS,
          delta=strength(0.5, 0.1))
    policies = peer.listen(Int64MultiArray, 'policies')
    peer.wait_for(lambda: policies and len(policies[-1].data) > 3, 'a hypothesis')
    hypothesis = PolicySet.from_msg(policies[-1])
    assert judge(TRUTH, hypothesis, RADIUS, 1.0).ok
    assert set(reachable_states(TRUTH, RADIUS)) == {*range(int(RADIUS) + 1)}


def test_it_takes_its_time_and_can_be_stopped(start: Callable, peer: Peer) -> None:
    start(str(LIFT), seconds_per_floor=30.0)
    heard = peer.listen(Int64MultiArray, 'state', 10)
    commands = peer.node.create_publisher(Int64MultiArray, 'action', 10)
    peer.wait_for(lambda: commands.get_subscription_count()
                  and peer.node.count_publishers('state'), 'the lift')

    homes = 0    # calls that came before the command: it is at home, which it reports at once

    def moves() -> bool:
        nonlocal homes
        commands.publish(Int64MultiArray(data=[1, 0]))    # again, if it has not been heard
        answer = peer.call(Trigger, 'return_home')
        homes += answer.success
        return 'an action is being executed' in answer.message

    peer.wait_for(moves, 'that it moves')
    peer.wait_for(lambda: len(heard) >= homes, 'that it was at home')
    assert len(heard) == homes
    assert peer.call(SetBool, 'stop', SetBool.Request(data=True)).success
    assert peer.call(SetBool, 'stop', SetBool.Request(data=False)).success
    peer.wait_for(lambda: len(heard) > homes, 'the report')
    assert [list(each.data) for each in heard] == [[-1, 0]] * (homes + 1)
