# Copyright 2026 mnm_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0
# Unless required by applicable law or agreed to in writing, software distributed under the License
# is distributed on an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express
# or implied. See the License for the specific language governing permissions and limitations under
# the License.

"""
Access control for DDS security: what each node may publish, subscribe, offer and call.

``python3 -m mnm_ros.security [--namespace /robot_1]`` prints a policy for ``ros2 security``;
the one for the root namespace is shipped as ``config/security/mnm_ros.policy.xml``. It grants
what the nodes use with any of their parameters, and nothing else; which topics and services these
are is declared in ``interface.py``. Imports no ROS.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
import sys
from xml.sax.saxutils import quoteattr

from mnm_ros.interface import SERVICES, TOPICS

_NODE_TOPICS = ('/parameter_events', '/rosout')
_NODE_SERVICES = (
    '~/describe_parameters', '~/get_parameter_types', '~/get_parameters',
    '~/get_type_description', '~/list_parameters', '~/set_parameters',
    '~/set_parameters_atomically')
_LIFECYCLE_SERVICES = (
    '~/change_state', '~/get_available_states', '~/get_available_transitions', '~/get_state',
    '~/get_transition_graph')

ENCLAVES = ('explorer', 'advisor', 'cmp_sim', 'diff_drive_sim', 'navigator', 'grid_driver',
            'gym_side', 'preflight', 'dashboard')
"""Each is a node of that name; ``advisor`` is an explorer with the parameter ``advisory``."""


def rights(enclave: str) -> Iterator[tuple[str, str, list[str]]]:
    """Yield what a node may do: kind (topic or service), right, and the names it has it for."""
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


def policy(namespace: str = '/') -> str:
    """Return the policy file for nodes in ``namespace``."""
    return '\n'.join((
        '<?xml version="1.0" encoding="UTF-8"?>', '<policy version="0.2.0">', '  <enclaves>',
        *(line for enclave in ENCLAVES for line in _enclave(enclave, '/' + namespace.strip('/'))),
        '  </enclaves>', '</policy>', ''))


def _enclave(enclave: str, namespace: str) -> Iterator[str]:
    node = 'explorer' if enclave == 'advisor' else enclave
    yield f'    <enclave path={quoteattr(f"/mnm_ros/{enclave}")}>'
    yield '      <profiles>'
    yield f'        <profile ns={quoteattr(namespace)} node={quoteattr(node)}>'
    for kind, right, names in rights(enclave):
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
