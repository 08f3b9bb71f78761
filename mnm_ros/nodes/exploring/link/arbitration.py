# SPDX-License-Identifier: Apache-2.0

"""Among several explorers that could command one robot, the one that started first does."""

from __future__ import annotations

import math

from mnm_ros import messages
from mnm_ros.core.progress.said import (
    CommandedBy,
    EarlierExplorer,
    ListeningForExplorers,
    OtherCommands,
    Reason,
    Said,
)
from mnm_ros.nodes.common.graph_watch import Endpoints, known_name
from mnm_ros.nodes.common.node_scope import NodeInterface
from mnm_ros.topics import ros_domain
from std_msgs.msg import Int64

_LISTEN = 0.5     # s, after the robot has been found, until other explorers have been, too
_LONGEST = 5.0    # s, of listening, however long the robot answers an unknown sender
_REPEAT = 1.5     # s, within which every claim is published again
_YIELD = 2.0      # s, after an answer to another sender's action
_SILENCE = 10.0   # s without a repeated claim, after which it no longer counts
_HELD_UP = 1.0    # s without a check, after which claims may be waiting to be heard

LISTENING = ListeningForExplorers()


class Arbitration:
    """
    Settles on the topic ``driver``, beside the robot's ``action``, who commands the robot.

    :param action: fully qualified name of the topic.
    :param number: time of the start in nanoseconds; the explorer with the smallest one commands.
    :ivar commands: whether this explorer is the one that may command the robot. Only then does it
        publish ``action``, so that no robot side takes one that stands by for its commander.
    """

    def __init__(self, node: NodeInterface, action: str, number: int, now: float) -> None:
        self.commands = False
        self._node = node
        self._action = action
        self._topic = f'{action}/driver'
        self._number = number
        self._claims: frozenset[object] = frozenset()
        self._claimants = Endpoints(node, self._topic, publishers=True)
        self._earlier = self._heard = False    # an earlier claim: at all, since the last check
        self._heard_at = self._looked_at = now
        self._foreign_until = now
        self._commander = ''    # as the robot side names it
        self._wait: Said = LISTENING
        self._wait_until = math.inf
        self._listen_until = -math.inf    # at the latest
        self._publisher = node.create_publisher(Int64, self._topic, messages.LATCHED)
        node.create_subscription(
            Int64, self._topic, self._on_claim, messages.LATCHED_BY_MANY)
        self.publish()

    @property
    def stands_by(self) -> bool:
        """Whether another explorer commands the robot."""
        return self._earlier or isinstance(self._wait, EarlierExplorer) and not self.commands

    def publish(self) -> None:
        """Inform the others; to be called once a second."""
        self._publisher.publish(Int64(data=self._number))

    def on_foreign_answer(self, now: float) -> None:
        """
        Record that the robot has answered an action that is not this explorer's.

        Its sender may not have been discovered yet: on a busy machine that takes seconds.
        """
        if now < self._wait_until:
            self._wait_until = max(
                self._wait_until, min(now + _LISTEN, self._listen_until))
        if self._node.count_publishers(self._action) > self.commands:
            self._foreign_until = now + _YIELD

    def on_refusal(self, commander: str, now: float) -> None:
        """Record that the robot side takes the commands of another node alone."""
        self._commander, self._foreign_until = commander, now + _YIELD

    def reason_to_yield(self, now: float) -> Reason:
        """Return why the robot must not be commanded at present, or nothing."""
        if self._wait_until == math.inf and self._node.count_subscribers(self._action):
            self._wait_until = now + _LISTEN
            self._listen_until = now + _LONGEST
        claims = self._claimants.ids(now)
        joined, left = claims - self._claims, self._claims - claims
        self._claims = claims
        self._forget_what_is_not_repeated(now)
        if joined and now < self._wait_until < math.inf:
            self._wait_until = now + _LISTEN
        if left and self._earlier:
            self._earlier = False    # if another one with precedence is left, it repeats its claim
            self._wait = self._other(now)
            self._wait_until = now + (_REPEAT if len(claims) > 1 else 0.0)
        self.commands = not self._earlier and now >= self._wait_until
        if not self.commands:
            return self._other(now) if self._earlier else self._wait
        if now >= self._foreign_until:
            self._commander = ''
            return ''
        return CommandedBy(self._commander) if self._commander else OtherCommands(self._action)

    def _other(self, now: float) -> EarlierExplorer:
        """Return that another explorer has precedence, with the names of all others."""
        names = sorted(map(known_name, self._claimants.known(now)))
        if (own := self._node.get_fully_qualified_name()) in names:
            names.remove(own)    # once: another explorer may have the same name
        return EarlierExplorer(', '.join(names), ros_domain())

    def _forget_what_is_not_repeated(self, now: float) -> None:
        """Let no claim stand for ever: an explorer repeats its own as long as it is well."""
        if self._heard or now > self._looked_at + _HELD_UP:
            self._heard_at = now
        self._heard, self._looked_at = False, now
        if self._earlier and now > self._heard_at + _SILENCE:
            self._earlier = False
            self._wait, self._wait_until = self._other(now), now
            self._node.get_logger().warning(
                f'an earlier claim on {self._topic} has not been repeated for {_SILENCE:g} s, '
                'expected once a second: it no longer counts')

    def _on_claim(self, message: Int64) -> None:
        if message.data <= 0:
            self._node.get_logger().warning(
                f'{message.data} on {self._topic} ignored, expected the time of a start in ns, '
                'above 0', throttle_duration_sec=5.0)
        elif message.data < self._number:
            self._earlier = self._heard = True
