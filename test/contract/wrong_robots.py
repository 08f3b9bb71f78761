# SPDX-License-Identifier: Apache-2.0

"""
Robot sides that break the contract, each in its own way: ``wrong_robots.py WAY ...``.

All are a ring of four states, each in the namespace of its way. ``right`` breaks nothing.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Sequence
from random import Random
import sys
import time

from mnm_ros import messages
import rclpy
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from std_msgs.msg import Int64MultiArray, String
from std_srvs.srv import SetBool, Trigger

WRONG = {
    'answers_twice': 'test_every_command_is_answered_once',
    'answers_another_seq': 'test_reset_is_answered',
    'forgets_reset': 'test_reset_leads_to_one_home',
    'ignores_a_repeat': 'test_a_repeated_command_is_answered_again',
    'executes_a_repeat': 'test_a_repeated_command_is_answered_again',
    'executes_a_repeat_in_secret': 'test_a_repeated_command_is_not_executed_again',
    'executes_a_repeat_slowly_in_secret': 'test_a_repeated_command_is_not_executed_again',
    'wants_growing_seqs': 'test_any_other_seq_is_executed',
    'dies_of_malformed_commands': 'test_malformed_commands_are_ignored',
    'answers_unknown_actions': 'test_unknown_actions_are_ignored',
    'chatters': 'test_the_robot_side_is_silent_at_rest',
    'malformed_besides': 'test_every_message_was_well_formed',
    'home_without_a_report': 'test_return_home',
    'does_not_stop': 'test_stop',
    'answers_when_freed': 'test_stop',
    'is_said_to_have_more_actions': 'test_the_description_is_right',
    'is_said_to_live_elsewhere': 'test_the_description_is_right',
    'cannot_say_what_it_is': 'test_the_description_is_right',
    'says_nothing_though_asked': 'test_the_description_is_right',
}
"""Each way to be wrong, with the test that finds it, which is the only one that is run."""

DESCRIPTIONS = {
    'right': '{"actions": ["left", "right"], "home": 0}',
    'is_said_to_have_more_actions': '{"actions": ["left", "right", "up"]}',
    'is_said_to_live_elsewhere': '{"actions": ["left", "right"], "home": 3}',
    'cannot_say_what_it_is': '{"actions": ["left", "right"], "states": {"A1": {}}}',
    'says_nothing_though_asked': '',
}


class Ring:
    """
    A ring of states, on which actions 0 and 1 move in opposite directions.

    :param publish: called with the numbers of each answer.
    """

    def __init__(self, way: str, publish: Callable[..., None],
                 sleep: Callable[[float], None] = time.sleep) -> None:
        self.way, self.publish, self.sleep = way, publish, sleep
        self.state = 0
        self.last: int | None = None
        self.stopped = False
        self.held: int | None = None
        self.random = Random(0)

    @property
    def services(self) -> set[str]:
        return {name for name, ways in (
            ('return_home', ('right', 'home_without_a_report')),
            ('stop', ('right', 'does_not_stop', 'answers_when_freed'))) if self.way in ways}

    def on_action(self, data: Sequence[int], offset: int) -> None:
        if len(data) != 2 or offset:
            assert self.way != 'dies_of_malformed_commands'
            return
        seq, action = data
        if self.stopped or not -1 <= action < 2 and self.way != 'answers_unknown_actions':
            return
        if self.way == 'wants_growing_seqs' and self.last is not None and seq < self.last:
            return
        self.obey(seq, action)

    def obey(self, seq: int, action: int) -> None:
        before = self.state
        if self.way == 'answers_when_freed' and action == 0:
            self.held = seq
            return
        if seq != self.last or self.way.startswith('executes_a_repeat'):
            self.execute(action)
        elif self.way == 'ignores_a_repeat':
            return
        secret = self.way.endswith('in_secret') and seq == self.last
        self.last = seq
        if self.way == 'answers_another_seq':
            seq += 1
        self.publish(seq, before if secret else self.state)
        if self.way == 'answers_twice':
            self.publish(seq, self.state)
        if self.way == 'malformed_besides':
            self.publish(seq)

    def execute(self, action: int) -> None:
        if self.way.endswith('slowly_in_secret'):
            self.sleep(0.25)
            action = self.random.choice((action, 2)) if action >= 0 else action
        if action == -1 and self.way != 'forgets_reset':
            self.state = 0
        elif action in (0, 1):
            self.state = (self.state + (1, -1)[action]) % 4

    def return_home(self) -> None:
        self.state = 0
        if self.way == 'right':
            self.publish(-1, 0)

    def stop(self, stopped: bool) -> None:
        self.stopped = stopped and self.way != 'does_not_stop'
        if self.held is not None and not stopped:
            self.publish(self.held, self.state)


class RingNode(Node):
    """A ring as a node, in the namespace of its way."""

    def __init__(self, way: str) -> None:
        super().__init__('robot', namespace=f'/{way}')
        self.ring = Ring(way, self.publish)
        self.states = self.create_publisher(Int64MultiArray, 'state', messages.STEP)
        self.create_subscription(Int64MultiArray, 'action', lambda message: self.ring.on_action(
            message.data, message.layout.data_offset), messages.STEP)
        if 'return_home' in self.ring.services:
            self.create_service(Trigger, 'return_home', self.on_return_home)
        if 'stop' in self.ring.services:
            self.create_service(SetBool, 'stop', self.on_stop)
        if way == 'chatters':
            self.create_timer(0.1, lambda: self.publish(-1, self.ring.state))
        if way in DESCRIPTIONS:
            self.description = self.create_publisher(String, 'robot_side', messages.LATCHED)
            if DESCRIPTIONS[way]:
                self.description.publish(String(data=DESCRIPTIONS[way]))

    def publish(self, *numbers: int) -> None:
        self.states.publish(Int64MultiArray(data=array('q', numbers)))

    def on_return_home(self, _: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        self.ring.return_home()
        response.success = True
        return response

    def on_stop(self, request: SetBool.Request, response: SetBool.Response) -> SetBool.Response:
        self.ring.stop(request.data)
        response.success = True
        return response


def main() -> None:
    rclpy.init()
    executor = SingleThreadedExecutor()
    for way in sys.argv[1:]:
        executor.add_node(RingNode(way))
    executor.spin()


if __name__ == '__main__':
    main()
