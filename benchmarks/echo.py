# SPDX-License-Identifier: Apache-2.0

"""
How near MNM comes to what lies beneath it, measured in turn: a step, and the start.

two         explorer and cmp_sim in two processes, over a bare echo of the same two messages with
            the same QoS and the same executor in two processes: steps per second
one         the same in one process
plain       MNM and the simulator in plain Python, over the simulator alone: steps per second
slow        the time of the processor that the explorer takes at 10 steps a second
start       from the launch of the explorer to its first action, over that of a bare node to its
            first message; the robot side runs already

Each round measures each of them once, one after the other, so that what else the machine does
concerns both sides of a ratio. Printed are the medians, and the least and the most of all rounds.
The steps are those after the first hypothesis. The exit status is 0 if every target is met.

It chooses no ROS domain: nothing else may run in the one that is set.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from contextlib import contextmanager
import json
import os
from pathlib import Path
from random import Random
from statistics import median
import subprocess
import sys
import time

from arguments import Arguments
from diagnostic_msgs.msg import DiagnosticArray
from mnm_ros import messages
from mnm_ros.core.exploration import Exploration
from mnm_ros.core.model.problem import Problem, RESET
from mnm_ros.core.presets import settings
from mnm_ros.simulation.scenario import load
from mnm_ros.simulation.simulator import Simulator
from processes import end
import rclpy
from std_msgs.msg import Int64MultiArray

TARGETS = {'two': 0.9, 'one': 0.6, 'plain': 0.35, 'slow': 0.03, 'start': 1.5}
AT_MOST = ('slow', 'start')
FOLDER = Path(__file__).parent
LATENCY = 0.1     # s, of a robot that makes 10 steps a second
PATIENCE = 60.0   # s, for whatever is waited for

Pair = tuple[float, float]
"""What was measured, and the bare figure that goes with it."""


def processor_seconds(pid: int) -> float:
    """Return the time of the processor that all threads of a process have taken."""
    return sum(int((task / 'schedstat').read_text(encoding='ascii').split()[0])
               for task in Path(f'/proc/{pid}/task').iterdir()) / 1e9


@contextmanager
def running(*commands: list[str]) -> Iterator[list[subprocess.Popen[str]]]:
    """Run programs, each the arguments of Python, until the end of the block."""
    started = [subprocess.Popen([sys.executable, *command], stdout=subprocess.PIPE,
                                text=True) for command in commands]
    try:
        yield started
    finally:
        end(started)


class Watcher:
    """
    Hears what the explorer says of its steps once a second, and its orders if asked to.

    :param arguments: of the command line.
    """

    def __init__(self, arguments: argparse.Namespace) -> None:
        self._given = arguments
        self._node = rclpy.create_node('echo_benchmark')
        self._said: tuple[float, int] | None = None
        self._since = 0.0    # s, what was stamped or given before is that of an earlier node
        self._heard = 0.0
        self._awaited: Callable[[int], bool] = lambda seq: False    # its first message
        self._node.create_subscription(DiagnosticArray, '/diagnostics', self._on_diagnostics, 10)

    def _on_diagnostics(self, message: DiagnosticArray) -> None:
        values = {entry.key: entry.value for entry in message.status[0].values}
        stamp = message.header.stamp.sec + message.header.stamp.nanosec / 1e9
        if stamp > self._since:
            self._said = stamp, int(values['steps'])

    def _on_order(self, message: Int64MultiArray) -> None:
        if self._awaited(message.data[0]):
            self._heard = self._heard or time.monotonic()

    def _until(self, done: Callable[[], object], what: str) -> None:
        end = time.monotonic() + PATIENCE
        while not done():
            rclpy.spin_once(self._node, timeout_sec=0.02)
            if time.monotonic() > end:
                sys.exit(f'benchmarks/echo: no {what} within {PATIENCE:g} s')

    def _steps(self) -> tuple[float, int]:
        """Return when the explorer has said how many steps it has made, and how many."""
        self._said = None
        self._until(lambda: self._said, 'diagnostics of the explorer')
        assert self._said is not None
        return self._said

    def _node_arguments(self, latency: float = 0.0) -> tuple[list[str], list[str]]:
        """Return the parameters of the explorer and of the simulator."""
        actions = json.dumps(list(load(self._given.scenario).actions))
        radius = f'radius:={self._given.radius}'
        return ([f'actions:={actions}', radius],
                [f'scenario:={self._given.scenario}', radius, f'latency:={latency}'])

    def _commands(self, latency: float = 0.0) -> tuple[list[str], list[str]]:
        explorer, simulator = self._node_arguments(latency)
        return (_node('mnm_ros.nodes.explorer', explorer),
                _node('mnm_ros.nodes.cmp_sim', simulator))

    def _rate(self, *commands: list[str]) -> float:
        self._since = time.time()
        with running(*commands):
            began, steps = self._steps()
            while steps < self._given.after:
                began, steps = self._steps()
            now, made = began, steps
            while now - began < self._given.seconds - 0.5:
                now, made = self._steps()
        return (made - steps) / (now - began)

    def _bare_rate(self, *commands: list[str]) -> float:
        with running(*commands) as processes:
            said = processes[0].stdout
            assert said is not None
            while float(said.readline()) < 1:    # not found each other yet
                pass
            said.readline()
            rates = [float(said.readline()) for _ in range(round(self._given.seconds))]
        return sum(rates) / len(rates)

    def two(self) -> Pair:
        """Measure two processes."""
        return self._rate(*self._commands()), self._bare_rate(_bare('order'), _bare('answer'))

    def one(self) -> Pair:
        """Measure one process."""
        explorer, simulator = self._node_arguments()
        command = _node('mnm_ros', [
            *(f'explorer:{given}' for given in explorer),
            *(f'cmp_sim:{given}' for given in simulator)], 'run', 'explorer', 'cmp_sim')
        return self._rate(command), self._bare_rate(_bare('order', 'answer'))

    def plain(self) -> Pair:
        """Measure the algorithm without ROS."""
        return plain(self._given)

    def slow(self) -> Pair:
        """Measure a robot that takes its time."""
        self._since = time.time()
        with running(*self._commands(LATENCY)) as processes:
            _, steps = self._steps()
            while steps < 10:
                _, steps = self._steps()
            began, before = time.monotonic(), processor_seconds(processes[0].pid)
            while time.monotonic() - began < self._given.slow_seconds:
                _, made = self._steps()
            taken = time.monotonic() - began
            share = (processor_seconds(processes[0].pid) - before) / taken
        return share, (made - steps) / taken

    def start(self) -> Pair:
        """Measure the start."""
        explorer, simulator = self._commands()
        orders = self._node.create_subscription(
            Int64MultiArray, 'action', self._on_order, messages.STEP)
        try:
            with running(simulator):
                self._until(lambda: self._node.count_publishers('state'), 'robot side')
                launched = time.time_ns()    # an explorer numbers its orders by its own start
                return (self._first(explorer, lambda seq: seq > launched),
                        self._first(_bare('first'), lambda seq: seq == 1))
        finally:
            self._node.destroy_subscription(orders)

    def _first(self, command: list[str], awaited: Callable[[int], bool]) -> float:
        self._until(lambda: not self._node.count_publishers('action'), 'end of a node')
        self._heard, self._awaited = 0.0, awaited
        launched = time.monotonic()
        with running(command):
            self._until(lambda: self._heard, 'first action')
        return self._heard - launched


def plain(given: argparse.Namespace) -> Pair:
    """Return the steps per second of algorithm and simulator, and of the simulator alone."""
    scenario, steps = load(given.scenario), given.plain_steps
    problem = Problem(len(scenario.actions), given.radius, 1.0, 0.1)
    exploration = Exploration(settings(problem), 0)
    simulator, random = Simulator(scenario), Random(0)
    for _ in range(given.after):
        action = exploration.next_action()
        exploration.observe(action, simulator.step(action))
    begun = time.process_time()
    for _ in range(steps):
        action = exploration.next_action()
        exploration.observe(action, simulator.step(action))
    between = time.process_time()
    actions = [random.randrange(RESET, len(scenario.actions)) for _ in range(steps)]
    before = time.process_time()
    for action in actions:
        simulator.step(action)
    return steps / (between - begun), steps / (time.process_time() - before)


def _bare(*roles: str) -> list[str]:
    return [str(FOLDER / 'bare.py'), *roles]


def _node(module: str, parameters: list[str], *words: str) -> list[str]:
    given = [word for parameter in parameters for word in ('-p', parameter)]
    return ['-m', module, *words, '--ros-args', '--log-level', 'warn', *given]


def verdict(name: str, value: float) -> str:
    """Return what the target of a ratio says."""
    target = TARGETS[name]
    met = value <= target if name in AT_MOST else value >= target
    return f'{"<=" if name in AT_MOST else ">="} {target:g} {"met" if met else "MISSED"}'


def ratios(name: str, pairs: list[Pair]) -> list[float]:
    """Return what is compared with the target, by round."""
    return [mine if name == 'slow' else mine / bare for mine, bare in pairs]


def line(name: str, pairs: list[Pair]) -> str:
    """Return a line of the table."""
    def of(values: list[float], digits: str) -> str:
        least, middle, most = min(values), median(values), max(values)
        return f'{middle:{digits}} ({least:{digits}} .. {most:{digits}})'

    digits = {'start': ',.2f', 'slow': ',.3f'}.get(name, ',.0f')
    found = ratios(name, pairs)
    return (f'{name:<6} {of([mine for mine, _ in pairs], digits):>32} '
            f'{of([bare for _, bare in pairs], ",.1f" if name == "slow" else digits):>38} '
            f'{of(found, ".3f"):>24}  {verdict(name, median(found))}')


def print_bounds(found: dict[str, list[Pair]]) -> None:
    """Print what the ratios of two and one would be if nothing but the algorithm were added."""
    steps = median(mine for mine, _ in found['plain'])
    for name in ('two', 'one'):
        if name in found:
            bare = median(bare for _, bare in found[name])
            print(f'{name}: at most {steps / (steps + bare):.3f}, as a step of the algorithm in '
                  f'plain Python takes {1e6 / steps:.0f} us, and a bare step {1e6 / bare:.0f} us')


def parse(arguments: list[str] | None = None) -> argparse.Namespace:
    """Read the command line; bad arguments end the program with exit status 2."""
    parser = Arguments(__doc__)
    add = parser.add_argument
    add('--only', nargs='+', choices=tuple(TARGETS), default=list(TARGETS), metavar='NAME',
        help=f'of {", ".join(TARGETS)} (default all)')
    add('--scenario', default='two_rooms', help='default %(default)s')
    parser.number('rounds', 5, least=1)
    parser.number('seconds', 4.0, 'of each measurement of steps per second', least=1)
    parser.number('slow-seconds', 15.0, 'of slow', least=1)
    parser.number('radius', 4.0, 'L')
    parser.number('after', 8000, 'before the first measurement', metavar='STEPS')
    parser.number('plain-steps', 20_000, 'of plain', least=1, metavar='STEPS')
    return parser.read(arguments)


def main(arguments: list[str] | None = None) -> int:
    """Measure by turns and print the medians."""
    parsed = parse(arguments)
    found: dict[str, list[Pair]] = {name: [] for name in parsed.only}
    rclpy.init()
    try:
        watcher = Watcher(parsed)
        for number in range(parsed.rounds):
            for name, pairs in found.items():
                pairs.append(getattr(watcher, name)())
                if sys.stderr.isatty():
                    print(f'\rround {number + 1}, {name}\033[K', end='', file=sys.stderr)
    finally:
        rclpy.shutdown()
    if sys.stderr.isatty():
        print('\r\033[K', end='', file=sys.stderr)
    load_now = os.getloadavg()[0]
    print(f'{parsed.scenario}, L = {parsed.radius:g}, {parsed.rounds} rounds, load {load_now:.1f} '
          f'on {len(os.sched_getaffinity(0))} cores: median (least .. most)')
    print(f'{"":<6} {"steps/s (slow: cores; start: s)":>32} '
          f'{"bare (slow: steps/s; start: s)":>38} {"ratio":>24}  target')
    for name, pairs in found.items():
        print(line(name, pairs))
    if 'plain' in found:
        print_bounds(found)
    met = (verdict(name, median(ratios(name, pairs))).endswith(' met')
           for name, pairs in found.items())
    return 0 if all(met) else 1


if __name__ == '__main__':
    sys.exit(main())
