# SPDX-License-Identifier: Apache-2.0

"""The subcommands that speak to a node once: they call a service, or send a goal."""

from __future__ import annotations

from collections.abc import Sequence
import math
import sys
import time
from typing import Any, NamedTuple, TYPE_CHECKING
from uuid import uuid4

from mnm_ros.command.main import COMMANDS
from mnm_ros.console.arguments import add_timeout, parser, split
from mnm_ros.core.errors import InvalidValueError
from mnm_ros.topics import SERVICES

if TYPE_CHECKING:
    from mnm_ros.command.service_client import ServiceClient
    from mnm_ros.core.progress.events import Event


class Call(NamedTuple):
    """
    The service that a subcommand calls.

    :ivar data: of a ``std_srvs/SetBool``; None for a ``std_srvs/Trigger``.
    """

    service: str
    data: bool | None = None


CALLS = {
    'pause': Call('explore', False), 'resume': Call('explore', True),
    'stop': Call('stop', True), 'go': Call('stop', False),
    'home': Call('return_home'), 'recover': Call('recover'), 'save': Call('save'),
    'load': Call('load'), 'cancel': Call('cancel'), 'change': Call('change'),
    'look': Call('look'),
}


_ASKED = {'go': 'free'}    # what they ask for, if it is not called like them


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

    from mnm_ros.command.service_client import ServiceClient
    from std_srvs.srv import SetBool, Trigger
    kind: Any = Trigger if called.data is None else SetBool
    request = Trigger.Request() if called.data is None else SetBool.Request(data=called.data)
    with ServiceClient(given.namespace, ros_arguments, given.timeout) as client:
        answers = _Answers(client, command, given.timeout)
        client.call(kind, service.name, request,
                    f'expected from the node {_servers(service.servers)}',
                    repeat=called.data is not None, unfinished=answers.take)
    return answers.status


class _Answers:
    """
    Prints each answer of a service that is news, and names who has called it.

    :param patience: s, after which a way home should have begun.
    :ivar status: the exit status.
    """

    def __init__(self, client: ServiceClient, command: str, patience: float) -> None:
        self.status = 1
        self._client, self._command = client, command
        self._since = time.monotonic()
        self._until = self._since + patience
        self._last: str | None = None

    def take(self, response: Any) -> bool:
        """Print a response; return whether to wait for another one, as the robot goes home."""
        from mnm_ros.nodes.common.commanding import CALL_AGAIN, GOING_HOME
        text, going_home = response.message, response.message == GOING_HOME
        waits = going_home or text.endswith(CALL_AGAIN) and time.monotonic() < self._until
        if going_home:
            self._until = -math.inf    # another action after that is another one's
        if waits:
            text = text.removesuffix(CALL_AGAIN)
        elif not response.success:
            text = f'refused: {text or "done"}'
        if text != self._last:
            print(text or 'done', file=sys.stdout if waits or response.success else sys.stderr,
                  flush=True)
        if self._last is None:
            self._client.record(_ASKED.get(self._command, self._command), self._command,
                                self._since)
        self._last, self.status = text, int(not response.success)
        return waits


def _servers(nodes: str) -> str:
    """Return for people who offers a service; an advisor is an explorer."""
    return ' or '.join(name for name in nodes.split() if name != 'advisor')


_FIRST_POLICIES = 3.0    # s, in which a navigator that was just started hears the policies
_RETRY = 0.2             # s, from a refusal to the next goal


def goal(arguments: Sequence[str], program: str) -> int:
    """Publish a goal and print its result; 0 if it was reached."""
    words, ros_arguments = split(arguments)
    made = parser(program, 'Send the robot to a known state and wait until the robot is there. '
                  'Ctrl-C cancels the goal. Needs the node navigator (mnm_ros run navigator).')
    add_timeout(made)
    made.add_argument('state', metavar='STATE',
                      help='a known state, by its id or its name from the robot side')
    given = made.parse_args(words)

    from mnm_ros.command.service_client import ServiceClient
    try:
        with ServiceClient(given.namespace, ros_arguments, given.timeout) as client:
            state = _state(client, given.state)
            result, status = _go(client, state, program.split()[-1])
            if not given.state.removeprefix('-').isdecimal():    # as it was asked for
                result = result.replace(f' {state}', f' {given.state}', 1)
    except ValueError as error:
        print(f'{program}: {error}', file=sys.stderr)
        return 1
    print(result, file=sys.stderr if status else sys.stdout)
    return status


def improve(arguments: Sequence[str], program: str) -> int:
    """Ask for policies that are nearly the best, and print the answer; 0 if all can be."""
    words, ros_arguments = split(arguments)
    made = parser(program, 'Let the explorer improve the policies to known states until each is '
                  'proven to be within 10% of the best, or within improve_within. The explorer '
                  'uses two of three steps for this. Publishes on the topic improve; mnm_ros '
                  'events shows the end.')
    add_timeout(made)
    made.add_argument('states', metavar='STATE', nargs='*',
                      help='a known state, by its id or its name from the robot side; without '
                      'any state, the last request is cancelled')
    given = made.parse_args(words)

    from mnm_ros.command.service_client import ServiceClient
    try:
        with ServiceClient(given.namespace, ros_arguments, given.timeout) as client:
            answer = _improve(client, [_state(client, text) for text in given.states],
                              program.split()[-1])
    except ValueError as error:
        print(f'{program}: {error}', file=sys.stderr)
        return 1
    print(answer.text, file=sys.stderr if answer.refused else sys.stdout)
    return int(answer.refused)


def _improve(client: ServiceClient, states: list[int], command: str) -> Event:
    """Return the answer, as the explorer publishes it on ``events``."""
    from mnm_ros import messages
    from mnm_ros.core.progress.events import Event
    from std_msgs.msg import Int64MultiArray, String
    request = uuid4().hex    # the answers to others are heard, too, at any time
    heard: list[Event] = []
    client.node.create_subscription(
        String, 'events', lambda message: heard.append(Event.from_json(message.data)),
        messages.EVENTS)
    asked = client.node.create_publisher(Int64MultiArray, 'improve', messages.STEP)
    client.find(lambda: asked.get_subscription_count(),
                f'no node subscribes {asked.topic_name} (expected from the node explorer)')
    client.settle()
    client.record('improve', command, id=request)
    asked.publish(Int64MultiArray(data=states))

    def answers() -> list[Event]:
        return [event for event in heard if event.request == request]
    client.find(answers, f'no answer on {asked.topic_name}')
    return answers()[0]


def _state(client: ServiceClient, text: str) -> int:
    """
    Return the state that is meant.

    :raises ValueError: if there is no such state.
    """
    from mnm_ros import messages
    from mnm_ros.robot_description import RobotDescription, UNDESCRIBED
    from std_msgs.msg import String
    description = UNDESCRIBED
    if not text.removeprefix('-').isdecimal():
        heard: list[str] = []
        named = client.node.create_subscription(
            String, 'robot_side', lambda message: heard.append(message.data), messages.LATCHED)
        client.find(lambda: heard, f'no node publishes {named.topic_name} (expected from the '
                    'robot side, which names states)')
        description = RobotDescription.from_text(heard[-1])
    state = description.state(text)
    if not -2**63 <= state < 2**63:
        raise InvalidValueError(f'STATE is {state}, expected an int64')
    return state


def _go(client: ServiceClient, state: int, command: str) -> tuple[str, int]:
    """Return the result in words, and the exit status."""
    from mnm_ros.core.progress.said import NoPolicyYet
    from mnm_ros.navigator_client import NavigatorClient
    navigator = NavigatorClient(client.node)
    topic = client.node.resolve_topic_name('goal/status')
    client.find(lambda: navigator.there,
                f'no node publishes {topic} (expected from the node navigator; start it: mnm_ros '
                'run navigator)')
    client.settle()
    until = time.monotonic() + _FIRST_POLICIES
    goal = navigator.go(state)
    try:
        client.record('goal', command, goal=goal.id, state=state)
        # A navigator that has just started may have heard what is certified so far alone.
        while not client.wait(lambda: navigator.result) or (
                isinstance(goal.report.said, NoPolicyYet) and time.monotonic() < until):
            if navigator.result:
                client.wait(lambda: False, _RETRY)
                goal = navigator.go(state)
    except KeyboardInterrupt:
        client.record('cancel', command)
        navigator.cancel()
        client.wait(lambda: navigator.result)
        return goal.report.text, 130
    return goal.report.text, int(not goal.reached)
