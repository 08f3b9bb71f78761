# SPDX-License-Identifier: Apache-2.0

"""The access control policy grants exactly what the running nodes use."""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
import os
from pathlib import Path
from xml.etree import ElementTree

from geometry_msgs.msg import PoseWithCovarianceStamped
from mnm_ros import security
from mnm_ros.topics import ACTIONS, CALLED_ACTIONS
from node_processes import Peer
import pytest
from tiers import strength

SHIPPED = Path(__file__).resolve().parents[2] / 'config' / 'security' / 'mnm_ros.policy.xml'
NAMESPACE = '/robot_1'
NOT_IN_HUMBLE = {'get_type_description'}
TRANSFORMS = {f'{NAMESPACE}/tf', f'{NAMESPACE}/tf_static'}    # used if tf2_msgs is installed

BOND = f'{NAMESPACE}/bond'    # test_manager_bond shows when it is used

Granted = dict[str, set[str]]


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


@pytest.mark.parametrize(('enclave', 'parameters'), [
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
    pytest.param('/mnm_ros/gym_side', {'environment': 'FrozenLake-v1'}, marks=pytest.mark.skipif(
        find_spec('gymnasium') is None, reason='gymnasium is not installed')),
    ('/mnm_ros/preflight', {'actions': ['east']})])
def test_complete_and_nothing_superfluous(start: Callable, peer: Peer, enclave: str,
                                          parameters: dict[str, object]) -> None:
    robots = parameters.get('robots', [])
    namespace, node, rights = granted(security.policy(NAMESPACE, robots), enclave)
    assert namespace == NAMESPACE
    if os.environ.get('ROS_DISTRO') == 'humble':
        rights['reply'] = {name for name in rights['reply']
                           if name.split('/')[-1] not in NOT_IN_HUMBLE}
    if not find_spec('tf2_msgs'):
        rights['publish'] -= TRANSFORMS
    if node == 'explorer':    # which has no bond without a lifecycle manager
        assert BOND in rights['publish'] and BOND in rights['subscribe']
    if node == 'navigator':    # which hears them where it serves actions
        heard = {*TRANSFORMS, f'{NAMESPACE}/model'}
        assert heard <= rights['subscribe']
        rights['subscribe'] -= heard
    rights = {right: names - {BOND} for right, names in rights.items()}
    if enclave == '/mnm_ros/explorer':
        where = '/'.join((NAMESPACE, *robots))
        start('cmp_sim', namespace=where, scenario='corridor')    # else it publishes no action
    start(node, namespace=NAMESPACE, use_sim_time=True, **parameters)
    peer.wait_for(lambda: (node, NAMESPACE) in peer.node.get_node_names_and_namespaces(),
                  'the node')
    try:
        peer.wait_for(lambda: used(peer, node, NAMESPACE) == rights, 'what is granted')
    except AssertionError:
        assert used(peer, node, NAMESPACE) == rights
    peer.spin(strength(0.5, 1.5))    # nothing comes later
    assert used(peer, node, NAMESPACE) == rights


def test_every_way_to_drive_is_granted_and_nothing_superfluous(
        start: Callable, peer: Peer) -> None:
    """The rights of ``grid_driver`` depend on its parameters: what is granted is their union."""
    namespace, node, rights = granted(security.policy(NAMESPACE), '/mnm_ros/grid_driver')
    if os.environ.get('ROS_DISTRO') == 'humble':
        rights['reply'] = {name for name in rights['reply']
                           if name.split('/')[-1] not in NOT_IN_HUMBLE}
    seen: Granted = {right: set() for right in rights}

    def look() -> Granted:
        if (node, NAMESPACE) in peer.node.get_node_names_and_namespaces():
            for right, names in used(peer, node, NAMESPACE).items():
                seen[right] |= names
        return seen

    ways = [({'reset': 'service', 'use_map': True, 'use_scan': True, 'robot_radius': 0.1}, 'map'),
            ({'drive': 'goal_pose', 'pose_source': 'amcl_pose'}, 'amcl_pose'),
            ({'pose_source': 'pose'}, 'pose')]
    if find_spec('tf2_msgs'):
        ways.append(({'pose_source': 'tf2'}, 'tf_static'))
    else:
        rights['subscribe'] -= TRANSFORMS
    for parameters, last in ways:
        process = start(node, namespace=NAMESPACE, use_sim_time=True, **parameters)
        peer.wait_for(lambda last=last: f'{NAMESPACE}/{last}' in look()['subscribe'], last)
        for _ in range(10):
            peer.spin(0.1)
            look()
        assert process.stop() == 0
        peer.wait_for(lambda: not peer.node.count_publishers(f'{NAMESPACE}/state'), 'the end')
    assert seen == rights


@pytest.mark.skipif(find_spec('nicegui') is None, reason='nicegui is not installed')
def test_what_a_page_may_do_and_one_that_is_read_only(start: Callable, peer: Peer) -> None:
    """The poses of a real robot are only heard where there are some and no simulated world."""
    namespace, node, rights = granted(security.policy(NAMESPACE), '/mnm_ros/dashboard')
    if os.environ.get('ROS_DISTRO') == 'humble':
        rights['reply'] = {name for name in rights['reply']
                           if name.split('/')[-1] not in NOT_IN_HUMBLE}
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
    peer.spin(1.0)
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
