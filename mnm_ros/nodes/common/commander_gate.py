# SPDX-License-Identifier: Apache-2.0

"""
Which node commands a robot, and whether another one may.

``RobotSide`` asks for each command whether to obey it, and several times a second whether the node
that has commanded what is under way is still there.
"""

from __future__ import annotations

from collections.abc import Callable
import time

from mnm_ros import messages
from mnm_ros.nodes.common.commanding import ExplorationPause
from mnm_ros.nodes.common.graph_watch import full_name, known_name
from mnm_ros.nodes.common.node_scope import NodeInterface
from mnm_ros.protocol.exchange import Command, SoleCommander
from std_msgs.msg import Header

_LEFT_ALONE = 0.5    # s, that an explorer which is paused may need between commands of a goal
_KNOWN = 1.0         # s, from a command until its sender is surely known
_HELD_UP = 1.0       # s without a check, after which heartbeats may be waiting to be heard


class CommanderWatch:
    """
    Watches the nodes that publish ``action`` and are heard on ``heartbeat`` by their names.

    Only these are explorers that may have commanded what is under way. One that stands by, or
    advises, publishes no ``action``; a navigator does, but has no heartbeat.

    :param node: the robot side.
    :param topic: fully qualified name of its topic ``action``.
    :ivar explorers: the nodes that would command it if no other one did.
    """

    def __init__(self, node: NodeInterface, topic: str) -> None:
        self._node = node
        self._topic = topic
        self._beats: dict[str, float] = {}    # when each node was last heard
        self._commanders: frozenset[str] = frozenset()
        self.explorers: frozenset[str] = frozenset()
        self._looked = time.monotonic()
        node.create_subscription(Header, 'heartbeat', self._on_beat, messages.HEARTBEATS)

    def held_up(self, now: float) -> bool:
        """Return whether the node has not checked for so long that messages may be waiting."""
        return now > self._looked + _HELD_UP

    def look(self, now: float, began: float | None) -> str:
        """
        Return why what is under way has lost its commander, or nothing.

        :param began: when what is under way was commanded; None if nothing is.
        """
        held_up, self._looked = self.held_up(now), now
        self._beats = {name: now if held_up else beat for name, beat in self._beats.items()
                       if held_up or now < beat + messages.LEASE}
        publishers, self.explorers = (
            frozenset(map(full_name, self._node.get_publishers_info_by_topic(topic)))
            for topic in (self._topic, f'{self._topic}/driver'))
        well = publishers & self._beats.keys()
        lost = frozenset() if began is None else self._commanders - well
        # A node that is found long after the command has not sent it.
        late = began is not None and now > began + _KNOWN
        self._commanders = self._commanders & well if late else well
        if not lost:
            return ''
        return ('its commander is gone' if lost - publishers
                else 'the heartbeat of the explorer has stopped')

    def _on_beat(self, message: Header) -> None:
        self._beats[message.frame_id] = time.monotonic()


class CommanderGate:
    """
    Keeps the robot for one node at a time.

    :param topic: fully qualified name of ``action``.
    :param pause: says whether the explorer leaves the robot alone.
    :param timeout: returns s, after which a silent commander has lost the robot.
    """

    def __init__(self, node: NodeInterface, topic: str, pause: ExplorationPause,
                 timeout: Callable[[], float]) -> None:
        self._node = node
        self._topic = topic
        self._pause = pause
        self._timeout = timeout
        self._commander = SoleCommander()
        self._watch = CommanderWatch(node, topic)

    @property
    def commands_reset(self) -> bool:
        """Whether RESET is a command of the commander like any other, if known."""
        return self._commander.commands_reset

    @property
    def is_explorer(self) -> bool:
        """Whether an explorer has the robot."""
        return self._commander.name in self._watch.explorers

    def occupant(self, command: Command) -> str:
        """
        Return the name of the node that has the robot, if that is not the sender of a command.

        If no other node has the robot, the sender has it from now on, and the name is empty.
        """
        now, timeout = time.monotonic(), self._timeout()
        self._hear(now)
        if self._pause.quiet:
            timeout = min(timeout, _LEFT_ALONE)
        if not self._commander.admits(command, now, timeout):
            name = self._beside(command.sender)
            if name:
                return name
        self._commander.take(command, now)
        return ''

    def look(self, now: float, began: float | None) -> str:
        """
        Return why what is under way has lost its commander, or nothing.

        :param began: when what is under way was commanded; None if nothing is.
        """
        self._hear(now)
        return self._watch.look(now, began)

    def hold(self, now: float) -> None:
        """Let the commander keep the robot, for which it waits."""
        self._commander.wait(now)

    @property
    def gone(self) -> bool:
        """Whether no node publishes commands."""
        return not self._node.count_publishers(self._topic)

    def _hear(self, now: float) -> None:
        """Let a commander keep the robot that was silent because this node did not hear it."""
        if self._watch.held_up(now):
            self._commander.wait(now)

    def _beside(self, sender: str) -> str:
        """Return the name of the node that has the robot, or names; nothing if it has ended."""
        name = self._commander.name
        found = self._node.get_publishers_info_by_topic(self._topic)
        if len(found) <= 1:
            return ''
        if not name:
            return ' or '.join(sorted({*map(known_name, found)} - {sender}))
        there = any(publisher.node_name in messages.NAMELESS or full_name(publisher) == name
                    for publisher in found)
        return name if there else ''
