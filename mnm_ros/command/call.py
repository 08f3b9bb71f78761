# SPDX-License-Identifier: Apache-2.0

"""The subcommands that call one service."""

from __future__ import annotations

from collections.abc import Sequence
import sys
from typing import NamedTuple

from mnm_ros.command.arguments import add_timeout, parser, split
from mnm_ros.command.main import COMMANDS
from mnm_ros.topics import SERVICES


class Call(NamedTuple):
    """
    What a subcommand calls.

    :ivar data: of a ``std_srvs/SetBool``; None for a ``std_srvs/Trigger``.
    """

    service: str
    data: bool | None = None


CALLS = {
    'pause': Call('explore', False), 'resume': Call('explore', True),
    'stop': Call('stop', True), 'go': Call('stop', False),
    'home': Call('return_home'), 'recover': Call('recover'), 'save': Call('save'),
    'load': Call('load'), 'cancel': Call('cancel'), 'change': Call('change'),
}


def main(arguments: Sequence[str], program: str) -> int:
    """Call the service of a subcommand; 0 if it has succeeded."""
    command = program.split()[-1]
    called = CALLS[command]
    service = next(service for service in SERVICES if service.name == called.service)
    data = '' if called.data is None else f' with {str(called.data).lower()}'
    what = COMMANDS[command].help.replace('`', '')
    words, ros_arguments = split(arguments)
    made = parser(program, f'{what[0].upper()}{what[1:]}. Calls the service {service.name} '
                  f'({service.type}){data}: {service.effect.replace("`", "")}.')
    add_timeout(made)
    given = made.parse_args(words)

    from mnm_ros.command.arguments import NoAnswer
    from mnm_ros.command.service_client import ServiceClient
    from std_srvs.srv import SetBool, Trigger
    kind = Trigger if called.data is None else SetBool
    request = Trigger.Request() if called.data is None else SetBool.Request(data=called.data)
    try:
        with ServiceClient(given.namespace, ros_arguments, given.timeout) as client:
            response = client.call(
                kind, service.name, request, f'what does: {_servers(service.servers)}',
                repeat=called.data is not None)
    except NoAnswer as error:
        print(f'{program}: {error}', file=sys.stderr)
        return 1
    print(f'{"" if response.success else "refused: "}{response.message or "done"}',
          file=sys.stdout if response.success else sys.stderr)
    return 0 if response.success else 1


def _servers(nodes: str) -> str:
    """Return for people who offers a service; an advisor is an explorer."""
    return ' or '.join(name for name in nodes.split() if name != 'advisor')
