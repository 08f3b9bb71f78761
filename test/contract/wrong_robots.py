# SPDX-License-Identifier: Apache-2.0

"""
Robot sides that break the contract, each in its own way: ``wrong_robots.py WAY ...``.

All are a ring of four states, each in the namespace of its way. ``right`` breaks nothing.
"""

from __future__ import annotations

from array import array
from random import Random
import sys
import time

from mnm_ros import messages
import rclpy
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from std_msgs.msg import Int64MultiArray, String
from std_srvs.srv import SetBool, Trigger

DESCRIPTIONS = {
    'right': '{"actions": ["left", "right"], "home": 0}',
    'is_said_to_have_more_actions': '{"actions": ["left", "right", "up"]}',
    'is_said_to_live_elsewhere': '{"actions": ["left", "right"], "home": 3}',
    'cannot_say_what_it_is': '{"actions": ["left", "right"], "states": {"A1": {}}}',
    'says_nothing_though_asked': '',
}


class Ring(Node):
    """A ring of states, on which actions 0 and 1 move in opposite directions."""

    def __init__(self, way: str) -> None:
        super().__init__('robot', namespace=f'/{way}')
        self.way = way
        self.state = 0
        self.last: int | None = None
        self.states = self.create_publisher(Int64MultiArray, 'state', messages.STEP)
        self.create_subscription(Int64MultiArray, 'action', self.on_action, messages.STEP)
        if way in ('right', 'home_without_a_report'):
            self.create_service(Trigger, 'return_home', self.on_return_home)
        if way in ('right', 'does_not_stop', 'answers_when_freed'):
            self.create_service(SetBool, 'stop', self.on_stop)
        if way == 'chatters':
            self.create_timer(0.1, lambda: self.publish(-1, self.state))
        if way in DESCRIPTIONS:
            self.description = self.create_publisher(String, 'robot_side', messages.LATCHED)
            if DESCRIPTIONS[way]:
                self.description.publish(String(data=DESCRIPTIONS[way]))
        self.stopped = False
        self.held: int | None = None
        self.random = Random(0)

    def publish(self, *numbers: int) -> None:
        self.states.publish(Int64MultiArray(data=array('q', numbers)))

    def on_action(self, message: Int64MultiArray) -> None:
        data = message.data
        if len(data) != 2 or message.layout.data_offset:
            assert self.way != 'dies_of_malformed_orders'
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
            time.sleep(0.25)
            action = self.random.choice((action, 2)) if action >= 0 else action
        if action == -1 and self.way != 'forgets_reset':
            self.state = 0
        elif action in (0, 1):
            self.state = (self.state + (1, -1)[action]) % 4

    def on_return_home(self, _: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        self.state = 0
        if self.way == 'right':
            self.publish(-1, 0)
        response.success = True
        return response

    def on_stop(self, request: SetBool.Request, response: SetBool.Response) -> SetBool.Response:
        self.stopped = request.data and self.way != 'does_not_stop'
        if self.held is not None and not request.data:
            self.publish(self.held, self.state)
        response.success = True
        return response


def main() -> None:
    rclpy.init()
    executor = SingleThreadedExecutor()
    for way in sys.argv[1:]:
        executor.add_node(Ring(way))
    executor.spin()


if __name__ == '__main__':
    main()
