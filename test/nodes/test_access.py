# SPDX-License-Identifier: Apache-2.0

"""The access control policy grants what the running nodes use, each of its declared type."""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
import os
from pathlib import Path
from xml.etree import ElementTree

from geometry_msgs.msg import PoseWithCovarianceStamped
from mnm_ros import messages, security
from mnm_ros.topics import ACTIONS, CALLED_ACTIONS, SERVICES, TOPICS
from node_processes import Peer
import pytest
from rclpy.qos import QoSProfile
from test_viewers import SHOWN, viewed
from tiers import strength

SHIPPED = Path(__file__).resolve().parents[2] / 'config' / 'security' / 'mnm_ros.policy.xml'
NAMESPACE = '/robot_1'
NOT_IN_HUMBLE = {'get_type_description'}

Granted = dict[str, set[str]]

# No node publishes or offers them here.
NOT_STARTED = {'bond', 'cmd_vel', 'dock', 'goal', 'goal/cancel', 'goal/request', 'work',
               'improve', 'pose', 'tf_static', 'way/request'}

if not find_spec('tf2_msgs'):
    NOT_STARTED.add('tf')


def of_transforms(namespace: str) -> set[str]:
    """Return the topics that are used if ``tf2_msgs`` is installed."""
    return {f'{namespace}/tf', f'{namespace}/tf_static'}


def granted(text: str, enclave: str) -> tuple[str, str, Granted]:
    """Return namespace, node and full names by right, as sros2 reads them."""
    policy = ElementTree.fromstring(text)
    profile, = policy.findall(f"./enclaves/enclave[@path='{enclave}']/profiles/profile")
    namespace, node = profile.get('ns'), profile.get('node')
    before = namespace.rstrip('/') + '/'
    rights: Granted = {right: set() for right in ('publish', 'subscribe', 'reply', 'request')}
    for group in profile:
        right, = (name for name, rule in group.attrib.items() if rule == 'ALLOW')
        if group.tag == 'actions':    # where their types are installed
            assert (enclave, right, [entry.text for entry in group]) in (
                ('/mnm_ros/navigator', 'execute', sorted(ACTIONS)),
                ('/mnm_ros/grid_driver', 'call', sorted(CALLED_ACTIONS)))
            continue
        assert group.tag == ('topics' if right in ('publish', 'subscribe') else 'services')
        for entry in group:
            name = entry.text
            rights[right].add(
                name if name[0] == '/' else
                before + node + name[1:] if name[0] == '~' else before + name)
    return namespace, node, rights


def used(peer: Peer, node: str, namespace: str) -> Granted:
    """Return what a node does, as the graph shows it."""
    ask = peer.node
    methods = {
        'publish': ask.get_publisher_names_and_types_by_node,
        'subscribe': ask.get_subscriber_names_and_types_by_node,
        'reply': ask.get_service_names_and_types_by_node,
        'request': ask.get_client_names_and_types_by_node}
    return {right: {name for name, _ in method(node, namespace)}
            for right, method in methods.items()}


def granted_here(namespace: str, robots: list[str], enclave: str) -> tuple[str, Granted]:
    """Return the node of an enclave, and its rights with what is installed here."""
    there, node, rights = granted(security.policy(namespace, robots), enclave)
    assert there == namespace
    if os.environ.get('ROS_DISTRO') == 'humble':
        rights['reply'] = {name for name in rights['reply']
                           if name.split('/')[-1] not in NOT_IN_HUMBLE}
    return node, rights


CASES = [
    ('/mnm_ros/explorer', {
        'actions': ['east'], 'reset_mode': 'service', 'battery_low': 20.0}),
    ('/mnm_ros/explorer', {
        'actions': ['east'], 'reset_mode': 'service', 'robots': ['deck/r1'],
        'battery_low': 20.0}),
    ('/mnm_ros/advisor', {
        'actions': ['east'], 'advisory': True, 'battery_low': 20.0}),
    ('/mnm_ros/cmp_sim', {'scenario': 'corridor'}),
    ('/mnm_ros/diff_drive_sim', {'world': 'one_room', 'battery_drive': 1.0}),
    ('/mnm_ros/navigator', {'reset_mode': 'service'}),
    *([('/mnm_ros/gym_side', {'environment': 'FrozenLake-v1'})] * bool(find_spec('gymnasium'))),
    ('/mnm_ros/preflight', {'actions': ['east']})]


def test_complete_nothing_superfluous_and_of_declared_types(
        start: Callable, peer: Peer) -> None:
    """Each node has a namespace of its own."""
    wanted: dict[tuple[str, str], Granted] = {}
    for number, (enclave, parameters) in enumerate(CASES, 1):
        namespace, robots = f'/robot_{number}', parameters.get('robots', [])
        node, rights = granted_here(namespace, robots, enclave)
        transforms, bond = of_transforms(namespace), f'{namespace}/bond'
        if not find_spec('tf2_msgs'):
            rights['publish'] -= transforms
        if node == 'explorer':    # test_manager_bond shows when it has a bond
            assert bond in rights['publish'] and bond in rights['subscribe']
        if node == 'navigator':    # which hears them where it serves actions
            heard = {*transforms, f'{namespace}/model'}
            assert heard <= rights['subscribe']
            rights['subscribe'] -= heard
        if enclave == '/mnm_ros/explorer':    # without a robot it publishes no action
            start('cmp_sim', namespace='/'.join((namespace, *robots)), scenario='corridor')
        start(node, namespace=namespace, use_sim_time=True, **parameters)
        wanted[node, namespace] = {right: names - {bond} for right, names in rights.items()}
    goals = '/robot_0'
    start('grid_driver', namespace=goals, use_sim_time=True, drive='goal_pose')

    def found() -> dict[tuple[str, str], Granted]:
        there = peer.node.get_node_names_and_namespaces()
        return {each: used(peer, *each) for each in wanted if each in there}

    seen: dict[tuple[str, str], Granted] = {}
    try:
        peer.wait_for(lambda: seen.update(found()) or seen == wanted, 'what is granted')
    except AssertionError:
        assert seen == wanted
    peer.spin(strength(0.5, 1.5))    # nothing comes later
    late = found()
    assert late == {each: wanted[each] for each in late}
    assert {node for node, _ in wanted.keys() - late.keys()} <= {'preflight'}    # which ends
    are_as_declared(peer, [goals, *(namespace for _, namespace in wanted)])


def are_as_declared(peer: Peer, namespaces: list[str]) -> None:
    """See that topics and services have the types and qualities of service of ``topics.py``."""
    def full(name: str) -> list[str]:
        return [name] if name.startswith('/') else [f'{space}/{name}' for space in namespaces]

    for topic in (topic for group in TOPICS.values() for topic in group):
        if topic.name in NOT_STARTED:
            continue
        for endpoint in peer.wait_for(lambda topic=topic: [
                found for name in full(topic.name)
                for found in peer.node.get_publishers_info_by_topic(name)], topic.name):
            assert endpoint.topic_type == topic.type.replace('/', '/msg/'), topic.name
            assert promised(endpoint.qos_profile) == promised(
                getattr(messages, topic.qos)), topic.name
    there = dict(peer.node.get_topic_names_and_types())
    for name, kind in viewed():    # in the files for RViz and Foxglove
        shown = {each.replace('/', '/msg/') for each in SHOWN[kind]}
        types = [there[each] for each in {name, *full(name.lstrip('/'))} if each in there]
        assert types and shown >= {*sum(types, [])}, name

    def kinds(name: str) -> list[list[str]]:
        offered = dict(peer.node.get_service_names_and_types())
        return [offered[each] for each in full(name) if each in offered]

    for service in SERVICES:
        if service.name not in NOT_STARTED:
            for kind in peer.wait_for(lambda name=service.name: kinds(name), service.name):
                assert kind == [service.type.replace('/', '/srv/')]


def promised(profile: QoSProfile) -> tuple[object, ...]:
    # The graph shows that there is no deadline as the longest one.
    return profile.reliability, profile.durability, profile.deadline.nanoseconds % (2**63 - 1)


def test_every_way_to_drive_is_granted_and_nothing_superfluous(
        start: Callable, peer: Peer) -> None:
    """The rights of ``grid_driver`` depend on its parameters: what is granted is their union."""
    ways = [({'reset': 'service', 'use_map': True, 'use_scan': True, 'robot_radius': 0.1}, 'map'),
            ({'drive': 'goal_pose', 'pose_source': 'amcl_pose'}, 'amcl_pose'),
            ({'pose_source': 'pose'}, 'pose')]
    node, rights = granted_here(NAMESPACE, [], '/mnm_ros/grid_driver')
    if find_spec('tf2_msgs'):
        ways.append(({'pose_source': 'tf2'}, 'tf_static'))
    else:
        rights['subscribe'] -= of_transforms(NAMESPACE)
    where = {f'{NAMESPACE}{letter}': last for letter, (_, last) in zip('abcd', ways)}
    for namespace, (parameters, _) in zip(where, ways):
        start(node, namespace=namespace, use_sim_time=True, **parameters)

    def seen() -> Granted:
        """Return what all of them do, as if all were in the same namespace."""
        seen: Granted = {right: set() for right in rights}
        there = peer.node.get_node_names_and_namespaces()
        for namespace, last in where.items():
            if (node, namespace) not in there:
                return {}
            found = used(peer, node, namespace)
            if f'{namespace}/{last}' not in found['subscribe']:
                return {}
            for right, names in found.items():
                seen[right] |= {name.replace(namespace, NAMESPACE, 1) for name in names}
        return seen

    try:
        peer.wait_for(lambda: seen() == rights, 'what is granted')
    except AssertionError:
        assert seen() == rights
    peer.spin(strength(0.5, 1.0))    # nothing comes later
    assert seen() == rights


@pytest.mark.skipif(find_spec('nicegui') is None, reason='nicegui is not installed')
def test_what_a_page_may_do_and_one_that_is_read_only(start: Callable, peer: Peer) -> None:
    """The poses of a real robot are only heard where there are some and no simulated world."""
    node, rights = granted_here(NAMESPACE, [], '/mnm_ros/dashboard')
    poses = [peer.node.create_publisher(PoseWithCovarianceStamped, f'{NAMESPACE}/{topic}', 10)
             for topic in ('amcl_pose', 'pose')]
    start(node, namespace=NAMESPACE, use_sim_time=True, port=0)
    start(node, namespace='/onlooker', port=0, read_only=True)
    try:
        peer.wait_for(lambda: (node, NAMESPACE) in peer.node.get_node_names_and_namespaces()
                      and used(peer, node, NAMESPACE) == rights, 'what is granted')
    except AssertionError:
        assert used(peer, node, NAMESPACE) == rights
    peer.wait_for(lambda: (node, '/onlooker') in peer.node.get_node_names_and_namespaces()
                  and peer.node.count_subscribers('/onlooker/activity'), 'the one to look on')
    peer.spin(strength(0.5, 1.0))
    looking = used(peer, node, '/onlooker')
    assert looking['request'] == set()
    assert looking['publish'] == {
        '/onlooker/policy/request', '/rosout', '/parameter_events'}
    assert len(poses) == 2


def test_the_advisor_cannot_command() -> None:
    *_, rights = granted(security.policy(), '/mnm_ros/advisor')
    assert '/action' not in rights['publish'] and not rights['request']


def test_the_shipped_file_is_up_to_date() -> None:
    assert SHIPPED.read_text(encoding='utf-8') == security.policy()
