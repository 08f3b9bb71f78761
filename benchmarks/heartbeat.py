# SPDX-License-Identifier: Apache-2.0

"""
How long the heartbeat of an explorer is not heard while it plans in a large world.

An explorer and a cmp_sim run at full speed in processes of their own, in an open grid with home in
the middle, beside processes that do nothing but compute. Printed are the load of the machine, the
steps made, and the longest times between two beats, which come twice a second, with the second in
which each ended. The exit status is 0 if none was longer than ``--most``.

It chooses no ROS domain: nothing else may run in the one that is set.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
import subprocess
import sys
from tempfile import TemporaryDirectory
import time

from arguments import Arguments
from looking_on import Listener, start
from mnm_ros import messages
from mnm_ros.simulation.cmp import GRID_MOVES
from processes import end
import rclpy
from std_msgs.msg import Header

SHOWN = 5
WATCHED = Path(__file__).with_name('watched.py')
BUSY = 'while True: pass'


def scenario(side: int) -> str:
    """Return an open grid with slip 0.1, as a file for scenarios has it; JSON is YAML, too."""
    rows = [['.'] * side for _ in range(side)]
    rows[side // 2][side // 2] = 'S'
    return json.dumps({'name': 'open grid', 'actions': list(GRID_MOVES), 'settings': [
        {'grid': {'rows': [''.join(row) for row in rows], 'slip': 0.1}}]})


class Beats:
    """
    The times between the beats that a node hears.

    :ivar gaps: seconds between two beats, and the second in which the later one was heard.
    """

    def __init__(self, listener: Listener) -> None:
        self.gaps: list[tuple[float, float]] = []
        self._begun = time.monotonic()
        self._last: float | None = None
        listener.node.create_subscription(
            Header, 'heartbeat', self._on_beat, messages.HEARTBEATS)

    def _on_beat(self, _: Header) -> None:
        now = time.monotonic()
        if self._last is not None:
            self.gaps.append((now - self._last, now - self._begun))
        self._last = now


def main() -> int:
    """Listen, and print the longest gaps."""
    parser = Arguments(__doc__)
    parser.number('side', 21, 'of the grid', least=3)
    parser.number('radius', 10.0, 'L')
    parser.number('busy', 0, 'processes that compute beside it', least=0)
    parser.number('seconds', 120.0)
    parser.number('most', 0.8, 'seconds between two beats')
    parser.add_argument('--keep', action='store_true',
                        help='what is learnt, in checkpoint_dir, with a transition log')
    parser.number('stacks', 0.0, 'seconds without a beat after which the explorer says on stderr '
                  'what each thread does; 0 for never', least=0)
    given = parser.read()
    program = [str(WATCHED), str(given.stacks)] if given.stacks else []
    rclpy.init()
    with TemporaryDirectory() as folder:
        world = Path(folder, 'open_grid.yaml')
        world.write_text(scenario(given.side), encoding='utf-8')
        kept: dict[str, object] = {
            'checkpoint_dir': str(Path(folder, 'kept')), 'transition_log': True}
        processes = [start('cmp_sim', scenario=str(world)),
                     start('explorer', *program, actions=list(GRID_MOVES), radius=given.radius,
                           **(kept if given.keep else {})),
                     *(subprocess.Popen([sys.executable, '-c', BUSY])
                       for _ in range(given.busy))]
        try:
            listener = Listener()
            beats = Beats(listener)    # from the first one on
            listener.steps()
            listener.spin(given.seconds)
            steps = listener.steps()
        finally:
            end(processes)
            rclpy.shutdown()
    longest = sorted(beats.gaps, reverse=True)[:SHOWN]
    print(f'{len(beats.gaps)} beats, {steps:,} steps, load {os.getloadavg()[0]:.1f}')
    for gap, second in longest:
        print(f'{gap:.2f} s without a beat, until second {second:.0f}')
    return 0 if longest and longest[0][0] <= given.most else 1


if __name__ == '__main__':
    sys.exit(main())
