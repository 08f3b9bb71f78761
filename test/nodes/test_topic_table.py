# SPDX-License-Identifier: Apache-2.0

"""Types and quality of service of the running nodes are those that are declared."""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec

from mnm_ros import messages
from mnm_ros.topics import SERVICES, TOPICS
from node_processes import Peer
from rclpy.qos import QoSProfile
from test_viewers import SHOWN, viewed

DECLARED = [topic for group in TOPICS.values() for topic in group]
NODES = {
    'explorer': {'actions': ['east'], 'reset_mode': 'service'},
    'cmp_sim': {'scenario': 'corridor'},
    'diff_drive_sim': {'world': 'one_room', 'battery_drive': 1.0},
    'navigator': {'reset_mode': 'service'},
    'grid_driver': {'drive': 'goal_pose'},
}
# No node publishes or offers them here.
NOT_STARTED = {'advice', 'bond', 'cmd_vel', 'dock', 'goal', 'goal/cancel', 'goal/request', 'work',
               'improve', 'pose', 'tf_static', 'way/request'}

if not find_spec('tf2_msgs'):
    NOT_STARTED.add('tf')


def promised(profile: QoSProfile) -> tuple[object, ...]:
    # The graph shows that there is no deadline as the longest one.
    return profile.reliability, profile.durability, profile.deadline.nanoseconds % (2**63 - 1)


def test_types_and_qualities_of_service(start: Callable, peer: Peer) -> None:
    for node, parameters in NODES.items():
        start(node, namespace='/robot_1', **parameters)

    def full(name: str) -> str:
        return name if name.startswith('/') else f'/robot_1/{name}'

    wanted = [topic for topic in DECLARED if topic.name not in NOT_STARTED]
    for topic in wanted:
        found = peer.wait_for(
            lambda topic=topic: peer.node.get_publishers_info_by_topic(full(topic.name)),
            topic.name)
        for endpoint in found:
            assert endpoint.topic_type == topic.type.replace('/', '/msg/'), topic.name
            assert promised(endpoint.qos_profile) == promised(
                getattr(messages, topic.qos)), topic.name
    there = dict(peer.node.get_topic_names_and_types())
    for name, kind in viewed():    # in the files for RViz and Foxglove
        shown = {each.replace('/', '/msg/') for each in SHOWN[kind]}
        assert shown >= set(there.get(f'/robot_1{name}') or there[name]), name

    def types() -> dict[str, list[str]]:
        return dict(peer.node.get_service_names_and_types())

    for service in SERVICES:
        if service.name not in NOT_STARTED:
            kind = peer.wait_for(
                lambda: types().get(full(service.name)), service.name)    # noqa: B023
            assert kind == [service.type.replace('/', '/srv/')]
