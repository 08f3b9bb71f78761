# SPDX-License-Identifier: Apache-2.0

"""
How long the heartbeat of an explorer is not heard while it plans in a large world.

An explorer and a cmp_sim run at full speed in processes of their own, in an open grid with home in
the middle, beside processes that do nothing but compute. Printed are the load of the machine, the
steps made, and the longest times between two beats, which come twice a second, with the second in
which each ended. The exit status is 0 if none was longer than ``--most``.

With ``--viewers`` the node ``dashboard`` and ``mnm_ros watch`` run, too, and the same is printed
of the topic ``activity``, which no two messages may leave silent for longer than 1 s. The bar is

    benchmarks/heartbeat --side 18 --declared --viewers --busy 3

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
from mnm_ros.simulation.cmp import GRID_MOVES, support
from mnm_ros.simulation.scenario import load
from processes import end
import rclpy
from std_msgs.msg import Header, String

SHOWN = 5
OFTEN = 1.0    # s, that the topic activity may be silent
WATCHED = Path(__file__).with_name('watched.py')
BUSY = 'while True: pass'


def scenario(side: int) -> str:
    """Return an open grid with slip 0.1, as a file for scenarios has it; JSON is YAML, too."""
    rows = [['.'] * side for _ in range(side)]
    rows[side // 2][side // 2] = 'S'
    return json.dumps({'name': 'open grid', 'actions': list(GRID_MOVES), 'settings': [
        {'grid': {'rows': [''.join(row) for row in rows], 'slip': 0.1}}]})


def declaration(world: Path) -> str:
    """Return where the actions of a scenario may lead, as a file for explorers has it."""
    declared = support(load(world).settings[0].cmp)
    return json.dumps({'successors': {
        str(state): [sorted(ends) for ends in lists]
        for state, lists in declared.successors.items()}})


class Gaps:
    """
    The times between two messages of a topic.

    :ivar name: of the topic.
    :ivar gaps: seconds between two messages, and the second in which the later one was heard.
    """

    def __init__(self, listener: Listener, kind: type, name: str, qos: object) -> None:
        self.name = name
        self.gaps: list[tuple[float, float]] = []
        self._begun = time.monotonic()
        self._last: float | None = None
        listener.node.create_subscription(kind, name, self._on_message, qos)

    def end(self) -> None:
        """Take the time since the last message for a gap, too."""
        self._on_message()

    def report(self, most: float) -> bool:
        """Print the longest gaps; return whether none was longer than ``most``."""
        longest = sorted(self.gaps, reverse=True)[:SHOWN]
        print(f'{self.name}: {len(self.gaps)} messages')
        for gap, second in longest:
            print(f'{gap:.2f} s without, until second {second:.0f}')
        return bool(longest) and longest[0][0] <= most

    def _on_message(self, *_: object) -> None:
        now = time.monotonic()
        if self._last is not None:
            self.gaps.append((now - self._last, now - self._begun))
        self._last = now


def viewers() -> list[subprocess.Popen[bytes]]:
    """Start a page and a terminal."""
    return [start('dashboard', port=0), subprocess.Popen(
        [sys.executable, '-m', 'mnm_ros', 'watch'], stdout=subprocess.DEVNULL)]


def main() -> int:
    """Listen, and print the longest gaps."""
    parser = Arguments(__doc__)
    parser.number('side', 21, 'of the grid', least=3)
    parser.number('radius', 10.0, 'L')
    parser.number('busy', 0, 'processes that compute beside it', least=0)
    parser.number('seconds', 120.0)
    parser.number('most', 0.8, 'seconds between two beats')
    parser.add_argument('--declared', action='store_true',
                        help='declare where all actions lead')
    parser.add_argument('--viewers', action='store_true',
                        help='have a page and a terminal show the explorer')
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
        more: dict[str, object] = {}
        if given.keep:
            more.update(checkpoint_dir=str(Path(folder, 'kept')), transition_log=True)
        if given.declared:
            more['declaration'] = str(Path(folder, 'declared.yaml'))
            Path(folder, 'declared.yaml').write_text(declaration(world), encoding='utf-8')
        processes = [start('cmp_sim', scenario=str(world)),
                     start('explorer', *program, actions=list(GRID_MOVES), radius=given.radius,
                           **more),
                     *(viewers() if given.viewers else ()),
                     *(subprocess.Popen([sys.executable, '-c', BUSY])
                       for _ in range(given.busy))]
        try:
            listener = Listener()
            gaps = [(Gaps(listener, Header, 'heartbeat', messages.HEARTBEATS), given.most)]
            listener.steps()
            if given.viewers:
                gaps.append((Gaps(listener, String, 'activity', messages.LATCHED), OFTEN))
            listener.spin(given.seconds)
            for each, _ in gaps:
                each.end()
            steps = listener.steps()
        finally:
            end(processes)
            rclpy.shutdown()
    print(f'{steps:,} steps, load {os.getloadavg()[0]:.1f}')
    kept = [each.report(most) for each, most in gaps]
    return 0 if all(kept) else 1


if __name__ == '__main__':
    sys.exit(main())
