# SPDX-License-Identifier: Apache-2.0

"""
Access control for DDS security: what each node may publish, subscribe, offer and call.

``python3 -m mnm_ros.security [--namespace /robot_1]`` prints a policy for ``ros2 security``;
the one for the root namespace is shipped as ``config/security/mnm_ros.policy.xml``. It grants
what the nodes use with any of their parameters, and nothing else; which topics and services these
are is declared in ``topics.py``. Imports no ROS.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
import sys
from xml.sax.saxutils import quoteattr

from mnm_ros import topics
from mnm_ros.topics import (
    ACTIONS,
    CALLED_ACTIONS,
    DRIVERS,
    ROBOT_SIDES,
    SERVICES,
    TOPICS,
    WATCHED_ACTIONS,
)

_NODE_TOPICS = ('/parameter_events', '/rosout')
_NODE_SERVICES = (
    '~/describe_parameters', '~/get_parameter_types', '~/get_parameters',
    '~/get_type_description', '~/list_parameters', '~/set_parameters',
    '~/set_parameters_atomically')
_LIFECYCLE_SERVICES = (
    '~/change_state', '~/get_available_states', '~/get_available_transitions', '~/get_state',
    '~/get_transition_graph')

ENCLAVES = ('explorer', 'advisor', 'cmp_sim', 'diff_drive_sim', 'navigator', 'grid_driver',
            'route_driver', 'route_watch', 'gym_side', 'preflight', 'dashboard')
"""Each is a node of that name; ``advisor`` is an explorer with the parameter ``advisory``."""


_ON_ROBOTS = (*ROBOT_SIDES.split(), 'diff_drive_sim', 'preflight')
"""The nodes that are in the namespaces of several robots."""

_OF_ROBOTS = {
    'explorer': ('action', 'action/driver', 'battery', 'goal/drive', 'goal/drive/cancel',
                 'goal/drive/status', 'heartbeat', 'requests', 'rest', 'rest/reason',
                 'return_home', 'robot_side', 'state', 'step_report', 'stopped'),
    'dashboard': ('map', 'return_home', 'robot_side', 'stop', 'stopped', 'true_setting')}
"""What an explorer has below the namespaces of several robots, and what is seen of these."""

_OF_ONE_ROBOT = ('work',)
"""What an explorer of several robots does not have."""


def rights(enclave: str, robots: Sequence[str] = ()) -> Iterator[tuple[str, str, list[str]]]:
    """
    Yield what a node may do: kind (topic, service, action), right, and the names it has it for.

    :param robots: namespaces of the robots that explore together, if there are several.
    """
    for kind, right, names in _rights(enclave):
        if robots and enclave == 'explorer':
            names = [name for name in names if name not in _OF_ONE_ROBOT]
        own = [name for name in names if robots and name in _OF_ROBOTS.get(enclave, ())]
        yield kind, right, [
            *(name for name in names
              if name not in own or name in ('heartbeat', 'requests') or enclave == 'dashboard'),
            *(f'{robot}/{name}' for robot in robots for name in own)]


def _rights(enclave: str) -> Iterator[tuple[str, str, list[str]]]:
    topics = [topic for group in TOPICS.values() for topic in group]
    offered, published = [*_NODE_SERVICES], [*_NODE_TOPICS]
    if enclave in ('explorer', 'advisor'):
        offered += _LIFECYCLE_SERVICES
        published.append('~/transition_event')
    yield 'topic', 'publish', [
        *published, *(topic.name for topic in topics if enclave in topic.publishers.split())]
    yield 'topic', 'subscribe', [
        topic.name for topic in topics if enclave in topic.subscribers.split()]
    yield 'service', 'reply', [
        *offered, *(service.name for service in SERVICES if enclave in service.servers.split())]
    yield 'service', 'request', [
        service.name for service in SERVICES if enclave in service.clients.split()]
    yield 'action', 'execute', [*ACTIONS] if enclave == 'navigator' else []
    # There is no right to hear an action alone.
    yield 'action', 'call', [*CALLED_ACTIONS] if enclave in DRIVERS.split() else (
        [*WATCHED_ACTIONS] if enclave == 'route_watch' else [])


def policy(namespace: str = '/', robots: Sequence[str] = ()) -> str:
    """Return the policy file for nodes in ``namespace``, and for robots in namespaces below it."""
    return '\n'.join((
        '<?xml version="1.0" encoding="UTF-8"?>', '<policy version="0.2.0">', '  <enclaves>',
        *(line for enclave in ENCLAVES for line in _enclave(
            enclave, '/' + namespace.strip('/'), robots)),
        '  </enclaves>', '</policy>', ''))


def _enclave(enclave: str, namespace: str, robots: Sequence[str]) -> Iterator[str]:
    node = 'explorer' if enclave == 'advisor' else enclave
    yield f'    <enclave path={quoteattr(f"/mnm_ros/{enclave}")}>'
    yield '      <profiles>'
    places = [f'{namespace.rstrip("/")}/{robot}' for robot in robots] if (
        enclave in _ON_ROBOTS) else []
    for place in places or [namespace]:
        yield f'        <profile ns={quoteattr(place)} node={quoteattr(node)}>'
        for kind, right, names in rights(enclave, robots):
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
    parser.add_argument(
        '--robots', type=topics.robots, default=(), metavar='N',
        help='robots of the explorer, by their namespaces below its own, or how many')
    given = parser.parse_args()
    sys.stdout.write(policy(given.namespace, given.robots))


if __name__ == '__main__':
    main()
