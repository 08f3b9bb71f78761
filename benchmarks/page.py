# SPDX-License-Identifier: Apache-2.0

"""
How much slower an explorer is while its page is looked at.

An explorer and cmp_sim make steps as fast as they can. In turns, nothing looks on, the node
dashboard runs without a browser, and the page is open in a browser without a screen, all on this
machine. Each turn is compared with the mean of those before and after it in which nothing looks
on, so that what else the machine does at the time counts as little as can be.

    benchmarks/page --stops 20

measures instead how long a press of Stop takes, in a simulated flat: until the page says a word,
until it says that the robot is stopped, and until the wheels stand by the odometry.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, ExitStack
import json
import os
from pathlib import Path
import re
import signal
from statistics import mean, stdev
import subprocess
import sys
import tempfile
import time
from typing import NamedTuple

from arguments import Arguments
from browsing import browser, missing
from mnm_ros.console import environment
from processes import processor_seconds

WAYS = ('alone', 'dashboard', 'alone', 'page')    # in turns
SETTLE = 3.0    # s, after a way has begun


@contextmanager
def node(name: str, log: Path, *arguments: str) -> Iterator[subprocess.Popen[bytes]]:
    """Run a node; its output goes to a file."""
    with log.open('w') as file, subprocess.Popen(
            [sys.executable, '-m', f'mnm_ros.nodes.{name}', '--ros-args', *arguments],
            stdout=file, stderr=subprocess.STDOUT) as process:
        try:
            yield process
        finally:
            process.send_signal(signal.SIGINT)
            process.wait(timeout=10)


class Steps:
    """Counts the steps of an explorer, by what it reports once a second."""

    def __init__(self) -> None:
        from mnm_ros.subscriptions import Listener
        self._listener = Listener()
        self._listener.__enter__()

    def close(self) -> None:
        self._listener.__exit__()

    def next_report(self) -> tuple[float, int]:
        """Return when the next report came and the steps that it tells."""
        before = self._listener.listen(0.0).reports
        while True:
            heard = self._listener.listen(0.02)
            if heard.reports > before and heard.count('steps'):
                return time.monotonic(), heard.count('steps')

    def rate(self, seconds: float) -> float:
        """Return steps in a second, over so many seconds."""
        begin, first = self.next_report()
        while True:
            end, last = self.next_report()
            if end >= begin + seconds:
                return (last - first) / (end - begin)


def address(log: Path) -> str:
    """Return where the page is, once it is there."""
    while not (found := re.search(r'the page is at (\S+)', log.read_text())):
        time.sleep(0.1)
    return found[1]


def browsing(profile: Path) -> list[int]:
    """Return the processes of the browser with a profile, and those that they have started."""
    children: dict[int, list[int]] = {}
    found = []
    for path in Path('/proc').glob('[0-9]*'):
        try:
            parent = int((path / 'stat').read_text().rpartition(')')[2].split()[1])
            if str(profile) in (path / 'cmdline').read_text():
                found.append(int(path.name))
        except OSError:    # it has ended
            continue
        children.setdefault(parent, []).append(int(path.name))
    for process in found:
        found += [child for child in children.get(process, ()) if child not in found]
    return found


class Turn(NamedTuple):
    """
    What was measured while the explorer was looked at in a way.

    :ivar rate: steps per second.
    :ivar cost: processor time of the explorer for a step, in s.
    :ivar dashboard, browser: processor time per second.
    """

    way: str
    rate: float
    cost: float
    dashboard: float
    browser: float


def measure(way: str, steps: Steps, explorer: int, seconds: float, folder: Path) -> Turn:
    """Look in a way for so many seconds."""
    with ExitStack() as stack:
        shown: dict[str, list[int]] = {'dashboard': [], 'browser': []}
        if way != 'alone':
            log = folder / 'dashboard.txt'
            dashboard = stack.enter_context(node('dashboard', log, '-p', 'port:=0'))
            there = address(log)
            shown['dashboard'] = [dashboard.pid]
            if way == 'page':
                profile = Path(tempfile.mkdtemp(dir=folder))
                stack.enter_context(browser(profile)).get(there)
                shown['browser'] = browsing(profile)
        time.sleep(SETTLE)

        def used() -> dict[str, float]:
            return {name: sum(map(processor_seconds, processes)) for name, processes in (
                ('explorer', [explorer]), *shown.items())}

        began, before = time.monotonic(), used()
        rate = steps.rate(seconds)
        elapsed = time.monotonic() - began
        share = {name: (after - before[name]) / elapsed for name, after in used().items()}
        return Turn(way, rate, share['explorer'] / rate, share['dashboard'], share['browser'])


def compared(turns: Sequence[Turn], figure: str) -> dict[str, list[float]]:
    """Return, by way, each turn's figure over the mean of those before and after it."""
    ratios: dict[str, list[float]] = {}
    for before, turn, after in zip(turns, turns[1:], turns[2:]):
        if turn.way != 'alone':
            alone = mean((getattr(before, figure), getattr(after, figure)))
            ratios.setdefault(turn.way, []).append(getattr(turn, figure) / alone)
    return ratios


def main() -> int:
    parser = Arguments(__doc__)
    parser.add_argument('--scenario', default='two_rooms', help='default two_rooms')
    parser.number('rounds', 4, 'of all ways')
    parser.number('seconds', 10.0, 'that each turn is measured for')
    parser.number('stops', 0, 'presses of Stop, which are measured instead')
    given = parser.read()
    if missing():
        print(f'benchmarks/page: {missing()}', file=sys.stderr)
        return 1
    environment.prepare(os.environ)
    if given.stops:
        from stopping import measure as pressed
        from stopping import worst
        with tempfile.TemporaryDirectory(prefix='mnm_ros_page_') as name:
            print(worst(pressed(given.stops, Path(name))))
        return 0
    from mnm_ros.simulation.scenario import load
    actions = json.dumps(load(given.scenario).actions)
    turns: list[Turn] = []
    with tempfile.TemporaryDirectory(prefix='mnm_ros_page_') as name, ExitStack() as stack:
        folder = Path(name)
        stack.enter_context(node(
            'cmp_sim', folder / 'cmp_sim.txt', '-p', f'scenario:={given.scenario}'))
        explorer = stack.enter_context(node(
            'explorer', folder / 'explorer.txt', '-p', f'actions:={actions}'))
        steps = Steps()
        stack.callback(steps.close)
        steps.rate(SETTLE)
        for way in (*WAYS * given.rounds, 'alone'):
            turn = measure(way, steps, explorer.pid, given.seconds, folder)
            turns.append(turn)
            print(f'{way:<10}{turn.rate:8,.0f} steps/s, {turn.cost * 1e6:6.1f} us of the explorer '
                  f'each; dashboard {turn.dashboard:.1%}, browser {turn.browser:.1%} of a core',
                  flush=True)
    for figure, what in (('rate', 'steps per second'), ('cost', 'processor time for a step')):
        for way, ratios in compared(turns, figure).items():
            spread = stdev(ratios) / len(ratios) ** 0.5 if len(ratios) > 1 else 0.0
            print(f'{way}: {what} {mean(ratios) - 1:+.1%} (standard error {spread:.1%}, '
                  f'{len(ratios)} times)')
    return 0


if __name__ == '__main__':
    sys.exit(main())
