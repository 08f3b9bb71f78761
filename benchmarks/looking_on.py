# SPDX-License-Identifier: Apache-2.0

"""
What it costs the explorer that others look on.

An explorer and a cmp_sim run at full speed in processes of their own. By turns, no node
subscribes, one subscribes ``model`` and ``activity``, and one ``exploration_markers``.
Printed are the steps per second and the time of the processor that the explorer takes for a step:
the latter tells small costs apart on a machine that is busy with other things, too. The exit
status is 0 if looking on takes at most ``--most`` of that, in the median over all rounds.

It chooses no ROS domain: nothing else may run in the one that is set.
"""

from __future__ import annotations

import json
from statistics import median
import subprocess
import sys
import time

from arguments import Arguments
from diagnostic_msgs.msg import DiagnosticArray
from mnm_ros import messages
from mnm_ros.simulation.scenario import load
from processes import end, processor_seconds
import rclpy
from std_msgs.msg import Int64MultiArray, String
from visualization_msgs.msg import MarkerArray

TOPICS = {
    'alone': (), 'model, activity': ((Int64MultiArray, 'model'), (String, 'activity')),
    'markers': ((MarkerArray, 'exploration_markers'),)}
SETTLE = 0.5    # s, before each measurement


def start(module: str, *program: str, **parameters: object) -> subprocess.Popen[bytes]:
    """Start a node of the package, or a ``program`` that is one."""
    given = [f'{name}:={json.dumps(value)}' for name, value in parameters.items()]
    return subprocess.Popen(
        [sys.executable, *(program or ('-m', f'mnm_ros.nodes.{module}')), '--ros-args',
         '--log-level', 'warn', *(word for value in given for word in ('-p', value))])


class Listener:
    """Counts the steps by what /diagnostics says, and listens to more by turns."""

    def __init__(self) -> None:
        self.node = rclpy.create_node('looking_on')
        self.heard = 0
        self._values: dict[str, str] = {}
        self.node.create_subscription(DiagnosticArray, '/diagnostics', self._on_diagnostics, 10)

    def _on_diagnostics(self, message: DiagnosticArray) -> None:
        self._values = {entry.key: entry.value for entry in message.status[0].values}

    def _on_message(self, _: object) -> None:
        self.heard += 1

    def spin(self, seconds: float) -> None:
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            rclpy.spin_once(self.node, timeout_sec=0.05)

    def steps(self) -> int:
        """Return the steps as of the next message."""
        self._values = {}
        while not self._values:
            rclpy.spin_once(self.node, timeout_sec=0.05)
        return int(self._values['steps'])

    def measure(self, topics: tuple, seconds: float, pid: int) -> tuple[float, float, float]:
        """Return steps per second, processor seconds per step and messages heard."""
        subscriptions = [self.node.create_subscription(
            kind, name, self._on_message, messages.LATCHED)
                         for kind, name in topics]
        self.spin(SETTLE)
        self.heard = 0
        steps, begun, before = self.steps(), time.monotonic(), processor_seconds(pid)
        self.spin(seconds)
        made, heard = self.steps() - steps, self.heard
        taken = time.monotonic() - begun
        result = made / taken, (processor_seconds(pid) - before) / made, heard / taken
        for subscription in subscriptions:
            self.node.destroy_subscription(subscription)
        return result


def main() -> int:
    """Measure by turns and print the medians."""
    parser = Arguments(__doc__)
    parser.add_argument('--scenario', default='two_rooms', help='default %(default)s')
    parser.number('radius', 4.0, 'L')
    parser.number('rounds', 10)
    parser.number('seconds', 4.0, 'of each measurement')
    parser.number('most', 0.02, 'share that it may take')
    arguments = parser.read()
    rclpy.init()
    nodes = [start('cmp_sim', scenario=arguments.scenario), start(
        'explorer', actions=list(load(arguments.scenario).actions), radius=arguments.radius)]
    figures: dict[str, list[tuple[float, float, float]]] = {name: [] for name in TOPICS}
    try:
        listener = Listener()
        while listener.steps() < 20_000:    # beyond the first hypothesis
            pass
        for _ in range(arguments.rounds):
            for name, topics in TOPICS.items():
                figures[name].append(listener.measure(topics, arguments.seconds, nodes[1].pid))
    finally:
        end(nodes)
        rclpy.shutdown()
    print(f'{"who listens to":<16} {"steps/s":>8} {"us per step":>12} {"more":>7} '
          f'{"messages/s":>11}')
    most = 0.0
    for name, found in figures.items():
        more = median(each[1] / alone[1] for each, alone in zip(found, figures['alone'])) - 1
        most = max(most, more)
        print(f'{name:<16} {median(each[0] for each in found):>8.0f} '
              f'{1e6 * median(each[1] for each in found):>12.1f} {more:>7.1%} '
              f'{median(each[2] for each in found):>11.1f}')
    return 0 if most <= arguments.most else 1


if __name__ == '__main__':
    sys.exit(main())
