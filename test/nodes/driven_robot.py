# SPDX-License-Identifier: Apache-2.0

"""A driver in a process of its own with a perfect robot, and whoever commands it."""

from __future__ import annotations

from array import array
from collections.abc import Sequence

from mnm_ros import messages
from mnm_ros.driving.grid import Grid
from node_processes import NodeProcess, Peer
from std_msgs.msg import Int64MultiArray, String
from unicycle import TICK, Unicycle

FAST = {'max_speed': 1.0, 'max_turn': 3.0, 'acceleration': 2.0, 'turn_acceleration': 10.0,
        'blocked_after': 1.0, 'move_timeout': 10.0,
        'pose_timeout': 20.0}    # by the clock on the wall, which a busy machine lets run on
GRID = Grid(-2.75, -2.75, 0.5, 11, 11)    # as the parameters have it
HOME = 60
EAST, NORTH, WEST, SOUTH = range(4)
FORWARD, LEFT, RIGHT, BACK = range(4)
RESET = -1


class DrivenRobot:
    """What the explorer sends, hears and is told."""

    def __init__(self, peer: Peer, process: NodeProcess, platform: Unicycle) -> None:
        self.peer, self.process, self.platform = peer, process, platform
        self.states: list[Int64MultiArray] = []
        peer.node.create_subscription(Int64MultiArray, 'state', self._on_state, messages.STEP)
        self._outcomes = peer.listen(String, 'outcome', 10)
        self._actions = peer.node.create_publisher(Int64MultiArray, 'action', messages.STEP)
        self._seq = 100
        peer.wait_for(
            lambda: platform.heard and self._actions.get_subscription_count() and all(
                peer.node.count_publishers(topic) for topic in ('state', 'outcome')),
            'the driver')

    @property
    def outcomes(self) -> list[str]:
        return [message.data for message in self._outcomes]

    def send(self, action: int, seq: int | None = None) -> int:
        self._seq += 1
        seq = self._seq if seq is None else seq
        self._actions.publish(Int64MultiArray(data=array('q', (seq, action))))
        self.platform.commanded = 3
        return seq

    def _on_state(self, message: Int64MultiArray) -> None:
        self.states.append(message)
        self.platform.commanded = 0

    def leave(self) -> None:
        self.peer.node.destroy_publisher(self._actions)

    def answers(self, seq: int) -> list[int]:
        return [message.data[1] for message in self.states if message.data[0] == seq]

    def act(self, action: int) -> tuple[int, str]:
        """Return the state that the action has led to, and what was said about it."""
        before = len(self._outcomes)
        seq = self.send(action)
        state = self.peer.wait_for(lambda: self.answers(seq) or None, f'action {action}')[0]
        self.peer.wait_for(lambda: len(self._outcomes) > before, 'the outcome')
        return state, self.outcomes[-1]

    def wait_until_driving(self) -> None:
        self.peer.wait_for(lambda: self.platform.speed > 0.3, 'that the robot drives')

    def wait_for_rest(self) -> None:
        """Wait until nothing has been commanded for a while."""
        platform = self.platform
        self.peer.wait_for(
            lambda: platform.commands and platform.time > platform.commands[-1][0] + 1.0,
            'silence')


def over_limit(commands: Sequence[tuple[float, float, float]], stops: int = 0) -> list:
    """
    Return the commands that are faster than FAST allows, or change faster.

    A command that comes late on a busy machine seems to come with the next one. Therefore changes
    are looked at over several commands, too, where two ticks make no difference.

    stops: how many may be zero at once.
    """
    bad, smooth = [], 0    # index of the first command after the last stop
    for i, (now, v, w) in enumerate(commands):
        jumps = [earlier for earlier in commands[max(smooth, i - 20):i]
                 if changes_too_fast(earlier, (now, v, w))]
        if jumps and v == w == 0 and stops:
            stops, smooth = stops - 1, i
        elif jumps or abs(v) > FAST['max_speed'] or abs(w) > FAST['max_turn']:
            bad.append((now, v, w, jumps))
    return bad


def changes_too_fast(
        earlier: tuple[float, float, float], later: tuple[float, float, float]) -> bool:
    time = later[0] - earlier[0] + 2 * TICK + 1e-9    # as sums are rounded
    return (abs(later[1] - earlier[1]) > FAST['acceleration'] * time
            or abs(later[2] - earlier[2]) > FAST['turn_acceleration'] * time)
