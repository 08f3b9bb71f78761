# SPDX-License-Identifier: Apache-2.0

"""A robot side as the tests of the contract see it: actions go in, messages come out."""

from __future__ import annotations

from array import array
from collections.abc import Callable
from itertools import count
import time
from typing import Any, TYPE_CHECKING, TypeVar

from mnm_ros import messages
from mnm_ros.core.model.problem import RESET
from mnm_ros.interrupt import held_back
from mnm_ros.protocol.exchange import REPORT
import pytest
import rclpy
from rclpy.context import Context
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from std_msgs.msg import Int64MultiArray, String

if TYPE_CHECKING:
    from rclpy.type_support import Srv

_RequestT = TypeVar('_RequestT')
_ResponseT = TypeVar('_ResponseT')
_FIND = 15.0      # s to find the robot side; discovery is slow on a busy machine
_SETTLE = 0.5     # s from the discovery of an endpoint until its messages arrive, as a rule
_REPEAT = 1.0     # s after which a command that may have been lost is sent again


def expect(condition: object, sentence: str) -> None:
    """Fail the test with one sentence unless the condition is true."""
    if not condition:
        pytest.fail(sentence, pytrace=False)


class Sender:
    """
    A node that sends commands and receives all messages of the robot side.

    :ivar heard: the numbers in each ``state`` message and the time of its arrival in s.
    """

    def __init__(self, name: str, namespace: str) -> None:
        self._context = Context()
        rclpy.init(context=self._context)
        self.node = Node(name, namespace=namespace, context=self._context)
        self._executor = SingleThreadedExecutor(context=self._context)
        self._executor.add_node(self.node)
        self._commands = self.node.create_publisher(Int64MultiArray, 'action', messages.STEP)
        self._states = self.node.create_subscription(
            Int64MultiArray, 'state', self._on_state, messages.STEP)
        self.heard: list[tuple[tuple[int, ...], float]] = []
        self._refused: set[int] = set()
        messages.hear(self.node, String, 'step_report', messages.STEP,
                      messages.decode_step_report,
                      lambda report: self._refused.update((report.seq,) if report.refused else ()))

    def missing(self) -> str:
        """Return which endpoint is missing, or ''."""
        if not self._commands.get_subscription_count():
            return f'no node subscribes {self._commands.topic_name} (reliable, volatile)'
        if not self.node.count_publishers(self._states.topic_name):
            return f'no node publishes {self._states.topic_name}'
        return ''

    def find(self) -> str:
        """Wait for the robot side; return which endpoint is still missing, or ''."""
        if not self.wait(lambda: not self.missing(), _FIND):
            return self.missing()
        self.listen(_SETTLE)
        return ''

    def publish(self, *numbers: int, offset: int = 0) -> None:
        """Publish an ``action`` message, be it well-formed or not."""
        message = Int64MultiArray(data=array('q', numbers))
        message.layout.data_offset = offset
        self._commands.publish(message)

    def wait(self, condition: Callable[[], object], deadline: float) -> bool:
        """Spin until the condition is true; return whether it was within ``deadline`` s."""
        end = time.monotonic() + deadline
        while not condition():
            if time.monotonic() > end:
                return False
            with held_back():
                self._executor.spin_once(timeout_sec=0.02)
        return True

    def listen(self, seconds: float) -> list[list[int]]:
        """Return the numbers in all messages that arrive in that time."""
        before = len(self.heard)
        self.wait(lambda: False, seconds)
        return [list(numbers) for numbers, _ in self.heard[before:]]

    def insist(self, seq: int, action: int, deadline: float) -> bool:
        """Repeat a command until it is answered or refused; return whether it was in time."""
        end = time.monotonic() + deadline
        while time.monotonic() < end:
            self.publish(seq, action)
            if self.wait(lambda: seq in self._refused or any(
                    numbers[:1] == (seq,) for numbers, _ in self.heard), min(_REPEAT, deadline)):
                return True
        return False

    def close(self) -> None:
        """End the node."""
        self._executor.shutdown()
        self.node.destroy_node()
        self._context.try_shutdown()

    def _on_state(self, message: Int64MultiArray) -> None:
        self.heard.append((tuple(message.data), time.monotonic()))


class Robot(Sender):
    """
    The robot side, commanded one step after the other.

    :param actions: the number of actions without RESET.
    :param timeout: s within which a command must be answered.
    :param quiet: s to listen for messages that must not come.
    :ivar seconds: the time that each command took.
    """

    def __init__(self, namespace: str, actions: int, timeout: float, quiet: float) -> None:
        self.namespace = '/' + namespace.strip('/')
        super().__init__('contract', self.namespace)
        self.actions = range(actions)
        self.timeout = timeout
        self.quiet = quiet
        self.seconds: list[float] = []
        self._seqs = count(time.time_ns())

    def find(self) -> str:
        """Wait until messages arrive in both directions; return what is missing, or ''."""
        missing = super().find()
        seq, end = next(self._seqs), time.monotonic() + max(_FIND, self.timeout)
        while not missing and not self.heard and time.monotonic() < end:
            self.publish(seq, RESET)
            self.wait(lambda: self.heard, _REPEAT)
        self.listen(self.quiet)
        self._seqs = count(time.time_ns())    # above every seq used so far
        return missing

    def command(self, action: int) -> int:
        """Command an action with a new seq and return the seq."""
        seq = next(self._seqs)
        self.publish(seq, action)
        return seq

    def answers(self, seq: int) -> list[int]:
        """Return the states in all answers to ``seq``."""
        return [numbers[1] for numbers, _ in self.heard if len(numbers) == 2 and numbers[0] == seq]

    def answer(self, seq: int, action: int, times: int = 1, begun: float | None = None) -> int:
        """Wait until ``seq`` was answered ``times`` times; return the state in the last answer."""
        begun = time.monotonic() if begun is None else begun
        before = len(self.heard)
        self.wait(lambda: len(self.answers(seq)) >= times or self.missing(), self.timeout)
        states = self.answers(seq)
        what = 'RESET' if action == RESET else f'action {action}'
        expect(len(states) >= times or not self.missing(),
               f'after {what} the robot side was gone: {self.missing()}')
        instead = [list(numbers) for numbers, _ in self.heard[before:]]
        expect(len(states) >= times,
               f'{what} with seq {seq} was answered {len(states)} times within '
               f'{self.timeout:g} s, expected {times}; heard in that time: {instead}')
        if times == 1:
            self.seconds.append(time.monotonic() - begun)
        return states[-1]

    def step(self, action: int) -> tuple[int, int]:
        """Command an action and wait for the answer; return its seq and its state."""
        begun = time.monotonic()
        seq = self.command(action)
        return seq, self.answer(seq, action, begun=begun)

    def home(self) -> int:
        """Command RESET, wait for the answer and return its state."""
        return self.step(RESET)[1]

    def offers(self, kind: type[Srv[Any, Any]], service: str) -> bool:
        """Return whether the service is offered."""
        client = self.node.create_client(kind, service)
        found = self.wait(client.service_is_ready, 2 * _SETTLE)
        self.node.destroy_client(client)
        return found

    def call(self, kind: type[Srv[_RequestT, _ResponseT]], service: str,
             request: _RequestT) -> _ResponseT:
        """Call a service, again if no response comes, and return the response."""
        client = self.node.create_client(kind, service)
        self.wait(client.service_is_ready, self.timeout)
        # The response is lost until the service has found the client, and no node is informed of
        # that.
        for _ in range(2):
            self.listen(0.5)
            future = client.call_async(request)
            if self.wait(future.done, self.timeout):
                break
        expect(future.done(),
               f'two calls of {service} had no response within {self.timeout:g} s each')
        self.node.destroy_client(client)
        return future.result()

    def said_to_be(self) -> list[str]:
        """Return what is latched on ``robot_side``; empty if it has no publisher."""
        heard: list[str] = []
        subscription = self.node.create_subscription(
            String, 'robot_side', lambda message: heard.append(message.data),
            messages.LATCHED_BY_MANY)
        if self.wait(lambda: self.node.count_publishers(subscription.topic_name), 2 * _SETTLE):
            self.wait(lambda: heard, self.timeout)
            expect(heard, f'{subscription.topic_name} has a publisher, but nothing came within '
                   f'{self.timeout:g} s, expected a message at once (reliable, transient local)')
            self.listen(self.quiet)
        self.node.destroy_subscription(subscription)
        return heard

    def reports(self, since: int) -> list[int]:
        """Return the states in unsolicited reports, without the first ``since`` messages."""
        return [numbers[1] for numbers, _ in self.heard[since:]
                if len(numbers) == 2 and numbers[0] == REPORT]
