# SPDX-License-Identifier: Apache-2.0

"""Send the robot to a known state by the node ``navigator``, and wait for what comes of it."""

from __future__ import annotations

from collections.abc import Sequence
import re
import sys
import time
from typing import TYPE_CHECKING

from mnm_ros.command.arguments import add_timeout, parser, split

if TYPE_CHECKING:
    from mnm_ros.command.service_client import ServiceClient

_TOO_EARLY = 'no policies heard yet'    # as a navigator says that has just been started
_PATIENCE = 3.0    # s, in which it should hear them
_AGAIN = 0.2       # s, until it is asked again


def main(arguments: Sequence[str], program: str) -> int:
    """Publish a goal and print its result; 0 if it was reached."""
    words, ros_arguments = split(arguments)
    made = parser(program, 'Send the robot to a known state and wait until it is there. Ctrl-C '
                  'gives the goal up. Needs the node navigator (mnm_ros run navigator).')
    add_timeout(made)
    made.add_argument('state', metavar='STATE',
                      help='a known state, by its id or the name that the robot side gives it')
    given = made.parse_args(words)

    from mnm_ros.command.arguments import NoAnswer
    from mnm_ros.command.service_client import ServiceClient
    try:
        with ServiceClient(given.namespace, ros_arguments, given.timeout) as client:
            result, status = _go(client, _state(client, given.state))
    except (NoAnswer, ValueError) as error:
        print(f'{program}: {error}', file=sys.stderr)
        return 1
    print(result, file=sys.stderr if status else sys.stdout)
    return status


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
        client.find(lambda: heard, f'nobody publishes {named.topic_name}, which names states')
        description = RobotDescription.from_text(heard[-1])
    state = description.state(text)
    if not -2**63 <= state < 2**63:
        raise ValueError(f'STATE is {state}, expected an int64')
    return state


def _go(client: ServiceClient, state: int) -> tuple[str, int]:
    """Return the result in words, and the exit status."""
    from mnm_ros import messages
    from std_msgs.msg import Int64, String
    from std_srvs.srv import Trigger
    heard: list[str] = []

    def over() -> list[str]:
        return [text for text in heard if re.match(rf'\w+ {state}\b', text)]

    # Not latched: the result of an earlier goal would be heard first.
    results = client.node.create_subscription(
        String, 'goal_result', lambda message: heard.append(message.data), messages.STEP)
    goals = client.node.create_publisher(Int64, 'goal', messages.STEP)
    client.find(lambda: goals.get_subscription_count(),
                f'nobody subscribes {goals.topic_name} (what does: navigator)')
    client.find(lambda: client.node.count_publishers(results.topic_name),
                f'nobody publishes {results.topic_name} (what does: navigator)')
    client.settle()
    goals.publish(Int64(data=state))
    interrupted, until = False, time.monotonic() + _PATIENCE
    try:
        while not client.wait(over) or (
                over()[-1].endswith(_TOO_EARLY) and time.monotonic() < until):
            if not goals.get_subscription_count():
                return f'nobody subscribes {goals.topic_name} any more', 1
            if over():
                heard.clear()
                client.wait(lambda: False, _AGAIN)
                goals.publish(Int64(data=state))
    except KeyboardInterrupt:
        interrupted = True
        client.call(Trigger, 'cancel', Trigger.Request(), 'what does: navigator', repeat=False)
        client.wait(over)
    result = (over() or [f'cancelling {state}: no result yet'])[-1]
    return result, 130 if interrupted else int(not result.startswith('reached'))
