# SPDX-License-Identifier: Apache-2.0

"""
Resident memory of a long exploration of a simulated robot, without ROS.

The exploration runs in this process, one line each time the steps have grown tenfold. What a
process of Python and numpy needs before the first step is in the figures. The exit status is 0
unless the last tenfold of the steps took more than the given megabytes.
"""

from __future__ import annotations

import sys
import time

from arguments import Arguments
from mnm_ros.core.exploration import Exploration
from mnm_ros.core.model.problem import Problem
from mnm_ros.core.presets import PRESETS, settings
from mnm_ros.simulation.scenario import load
from mnm_ros.simulation.simulator import Simulator
from processes import megabytes

RADIUS, EPSILON, DELTA = 4.0, 1.0, 0.1
FIRST = 1000    # steps of the first line


def explore(scenario_name: str, preset: str, base: str, seed: int, steps: int) -> list[float]:
    """Explore for ``steps`` steps and print as it goes; return the MB of each line."""
    scenario = load(scenario_name)
    simulator = Simulator(scenario, seed)
    exploration = Exploration(settings(
        Problem(len(scenario.actions), RADIUS, EPSILON, DELTA), preset, {'base': base}), seed)
    exploration.robot_answers()
    began, figures, mark = time.perf_counter(), [], min(FIRST, steps)
    print(f'{"steps":>12} {"MB":>8} {"round":>6} {"known":>6} {"us/step":>8}')
    while exploration.steps < steps:
        while exploration.steps < mark:
            action = exploration.next_action()
            exploration.observe(action, simulator.step(action))
        figures.append(megabytes('VmRSS'))
        known = exploration.hypothesis.targets if exploration.hypothesis else ()
        pace = (time.perf_counter() - began) / mark * 1e6
        print(f'{mark:>12,} {figures[-1]:>8.1f} {exploration.diagnostics()["round"]:>6} '
              f'{len(known):>6} {pace:>8.1f}', flush=True)
        mark = min(10 * mark, steps)
    return figures


def main() -> int:
    """Explore and compare the last two figures."""
    parser = Arguments(__doc__)
    parser.add_argument('--scenario', default='two_rooms', help='default two_rooms')
    parser.add_argument('--preset', default='onboard', choices=tuple(PRESETS))
    parser.base()
    parser.number('seed', 0)
    parser.number('steps', 10**7)
    parser.number('allowed', 2.0, 'MB that the last tenfold may take')
    given = parser.read()
    figures = explore(given.scenario, given.preset, given.base, given.seed, given.steps)
    growth = figures[-1] - figures[-2] if len(figures) > 1 else 0.0
    print(f'the last tenfold of the steps took {growth:.1f} MB')
    return int(growth > given.allowed)


if __name__ == '__main__':
    sys.exit(main())
