# SPDX-License-Identifier: Apache-2.0

"""
What the markers of many states cost: milliseconds of the processor per picture, and their share.

The states are a grid that slips, all of them known, once with places given by the robot side and
once laid out. Each picture is drawn and written as it goes over the wire. ``whole`` is what a
new subscriber gets, ``change`` what follows when the robot has made some hundred steps. The share
is that of the pictures made in a second: at most two, and no more than fit into 2% of the time.
The benchmark takes less than a minute.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
import random
from statistics import median
import sys
import time

from arguments import Arguments
from mnm_ros.core.knowledge.knowledge import Knowledge, nested
from mnm_ros.core.model.policy import Policy
from mnm_ros.nodes.exploring.output.markers import Markers
from mnm_ros.robot_description import RobotDescription, UNDESCRIBED
from mnm_ros.view.shapes import Caption
from rclpy.serialization import serialize_message
from visualization_msgs.msg import MarkerArray

PERIOD, SHARE = 0.5, 0.02    # s between two pictures, and what they may take
WIDTH = 20
MOVES = ((1, 0), (0, 1), (-1, 0), (0, -1))


class Grid:
    """As much of what is known as is drawn."""

    def __init__(self, states: int) -> None:
        self._random = random.Random(1)
        self.counts: dict[int, dict[tuple[int, int], int]] = {}
        targets = tuple(range(states))
        policies = tuple(Policy(target, 30, targets, ((0,) * states,)) for target in targets)
        self._policies = {policy.target: policy for policy in policies}
        self._here = 0
        self._states = states
        for state in targets:
            for action in range(len(MOVES)):
                for _ in range(10):
                    self._step(state, action)

    @property
    def knowledge(self) -> Knowledge:
        return Knowledge(0, 0, tuple(self._policies), policies=self._policies, counts=nested(
            (state, action, after, count) for state, nexts in self.counts.items()
            for (action, after), count in nexts.items()), here=(self._here,))

    def walk(self, steps: int) -> None:
        for _ in range(steps):
            self._step(self._here, self._random.randrange(len(MOVES)))

    def _step(self, state: int, action: int) -> None:
        x, y = state % WIDTH, state // WIDTH
        if self._random.random() < 0.8:
            x, y = x + MOVES[action][0], y + MOVES[action][1]
        after = y * WIDTH + x if 0 <= x < WIDTH and 0 <= y < self._states // WIDTH else state
        counted = self.counts.setdefault(state, {})
        counted[action, after] = counted.get((action, after), 0) + 1
        self._here = after


def _draw(grid: Grid, markers: Markers,
          description: RobotDescription) -> MarkerArray | None:
    grid.walk(200)
    return markers.draw(grid.knowledge, description, Caption(0, 'checking'))


def measure(make: Callable[[], MarkerArray | None]) -> tuple[float, int, int]:
    """Return the seconds that it takes, the markers and the bytes."""
    begun = time.process_time()
    picture = make()
    size = len(serialize_message(picture)) if picture else 0
    return time.process_time() - begun, len(picture.markers) if picture else 0, size


def main() -> int:
    """Print a line for each kind of picture."""
    parser = Arguments(__doc__)
    parser.number('states', 300)
    parser.number('pictures', 30)
    arguments = parser.read()
    positions = {state: (float(state % WIDTH), float(state // WIDTH))
                 for state in range(arguments.states)}
    print(f'{arguments.states} states\n{"places":<10} {"picture":<8} {"markers":>8} {"kB":>6} '
          f'{"ms":>7} {"share":>6}')
    for name, description in (
            ('given', RobotDescription(('e', 'n', 'w', 's'), 0, 'map', {}, positions)),
            ('laid out', UNDESCRIBED)):
        grid, markers = Grid(arguments.states), Markers()
        draw = partial(_draw, grid, markers, description)
        for _ in range(10):    # a layout settles
            draw()
        for kind, make in (('whole', markers.whole), ('change', draw)):
            taken = [measure(make) for _ in range(arguments.pictures)]
            seconds, count, size = (median(column) for column in zip(*taken))
            share = seconds / max(PERIOD, seconds / SHARE)
            print(f'{name:<10} {kind:<8} {count:>8.0f} {size / 1000:>6.1f} {1000 * seconds:>7.1f} '
                  f'{share:>6.1%}')
    return 0


if __name__ == '__main__':
    sys.exit(main())
