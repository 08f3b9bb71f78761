"""Access control for DDS security: what each node may publish, subscribe, offer and call.

``python3 -m mnm_ros.security [--namespace /robot_1]`` prints a policy for ``ros2 security``;
the one for the root namespace is shipped as ``config/security/mnm_ros.policy.xml``. It grants
what the nodes use with any of their parameters, and nothing else. Imports no ROS.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import dataclass, replace
import sys
from xml.sax.saxutils import quoteattr

_NODE_TOPICS = ('/parameter_events', '/rosout')
_NODE_SERVICES = (
    '~/describe_parameters', '~/get_parameter_types', '~/get_parameters',
    '~/get_type_description', '~/list_parameters', '~/set_parameters',
    '~/set_parameters_atomically')
_LIFECYCLE_SERVICES = (
    '~/change_state', '~/get_available_states', '~/get_available_transitions', '~/get_state',
    '~/get_transition_graph')


@dataclass(frozen=True)
class Access:
    """What a node may do, by names that are relative, absolute (/) or the node's own (~/).

    replies: services it offers. requests: services it calls.
    """

    node: str
    publishes: tuple[str, ...]
    subscribes: tuple[str, ...]
    replies: tuple[str, ...]
    requests: tuple[str, ...] = ()


_NEWS = (
    '/diagnostics', 'exploration_markers', 'heartbeat', 'known_states', 'phase', 'policies',
    'status', '~/transition_event', *_NODE_TOPICS)

EXPLORER = Access(
    'explorer',
    publishes=('action', 'action/driver', *_NEWS),
    subscribes=('/clock', 'action/driver', 'state'),
    replies=('explore', 'load', 'recover', 'save', *_LIFECYCLE_SERVICES, *_NODE_SERVICES),
    requests=('return_home',))

ADVISOR = replace(
    EXPLORER,
    publishes=('advice', *_NEWS), subscribes=('/clock', 'action', 'state'), requests=())

CMP_SIM = Access(
    'cmp_sim',
    publishes=('exploration_steps', 'state', 'true_setting', *_NODE_TOPICS),
    subscribes=('/clock', 'action', 'heartbeat', 'policies'),
    replies=('change', 'return_home', 'stop', *_NODE_SERVICES))

DIFF_DRIVE_SIM = Access(
    'diff_drive_sim',
    publishes=(
        '/clock', 'amcl_pose', 'bump', 'doors', 'map', 'odom', 'true_pose', 'true_setting',
        'world_markers', *_NODE_TOPICS),
    subscribes=('/clock', 'cmd_vel'),
    replies=('change', *_NODE_SERVICES))

NAVIGATOR = Access(
    'navigator',
    publishes=('action', 'goal_result', *_NODE_TOPICS),
    subscribes=('/clock', 'goal', 'known_states', 'phase', 'policies', 'state'),
    replies=('cancel', *_NODE_SERVICES),
    requests=('explore', 'return_home'))

GRID_DRIVER = Access(
    'grid_driver',
    publishes=('cmd_vel', 'goal_pose', 'outcome', 'state', *_NODE_TOPICS),
    subscribes=('/clock', 'action', 'amcl_pose', 'bump', 'heartbeat', 'map', 'odom'),
    replies=('return_home', 'stop', *_NODE_SERVICES),
    requests=('dock',))

GYM_SIDE = Access(
    'gym_side',
    publishes=('state', *_NODE_TOPICS),
    subscribes=('/clock', 'action', 'heartbeat'),
    replies=('return_home', 'stop', *_NODE_SERVICES))

PREFLIGHT = Access(
    'preflight',
    publishes=('action', *_NODE_TOPICS),
    subscribes=('/clock', 'state'),
    replies=_NODE_SERVICES)

ENCLAVES = {
    '/mnm_ros/explorer': EXPLORER,
    '/mnm_ros/advisor': ADVISOR,    # an explorer with the parameter advisory
    '/mnm_ros/cmp_sim': CMP_SIM,
    '/mnm_ros/diff_drive_sim': DIFF_DRIVE_SIM,
    '/mnm_ros/navigator': NAVIGATOR,
    '/mnm_ros/grid_driver': GRID_DRIVER,
    '/mnm_ros/gym_side': GYM_SIDE,
    '/mnm_ros/preflight': PREFLIGHT,
}


def policy(namespace: str = '/') -> str:
    """Return the policy file for nodes in ``namespace``."""
    return '\n'.join((
        '<?xml version="1.0" encoding="UTF-8"?>', '<policy version="0.2.0">', '  <enclaves>',
        *(line for path, access in ENCLAVES.items()
          for line in _enclave(path, access, '/' + namespace.strip('/'))),
        '  </enclaves>', '</policy>', ''))


def _enclave(path: str, access: Access, namespace: str) -> Iterator[str]:
    yield f'    <enclave path={quoteattr(path)}>'
    yield '      <profiles>'
    yield f'        <profile ns={quoteattr(namespace)} node={quoteattr(access.node)}>'
    for kind, right, names in (
            ('topic', 'publish', access.publishes), ('topic', 'subscribe', access.subscribes),
            ('service', 'reply', access.replies), ('service', 'request', access.requests)):
        if names:
            yield f'          <{kind}s {right}="ALLOW">'
            yield from (f'            <{kind}>{name}</{kind}>' for name in sorted(names))
            yield f'          </{kind}s>'
    yield '        </profile>'
    yield '      </profiles>'
    yield '    </enclave>'


def main() -> None:
    """Print the policy."""
    parser = argparse.ArgumentParser(
        prog='python3 -m mnm_ros.security',
        description='Print an access control policy for ros2 security.')
    parser.add_argument('--namespace', default='/', help='of the nodes (default /)')
    sys.stdout.write(policy(parser.parse_args().namespace))


if __name__ == '__main__':
    main()
