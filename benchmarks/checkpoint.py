# Copyright 2026 mnm_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0
# Unless required by applicable law or agreed to in writing, software distributed under the License
# is distributed on an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express
# or implied. See the License for the specific language governing permissions and limitations under
# the License.

"""
How long keeping an exploration on disk holds up its steps.

The same exploration runs twice in one process, without a store and with one, with everything
else as in the node. A step of the first run takes as long as its planning does; what keeping
adds is the time inside of the callback that hands each input to the store, and the time for
which the writing thread holds the interpreter.
"""

from __future__ import annotations

import argparse
from pathlib import Path
import tempfile
import time

from mnm_ros.checkpoint.store import Store
from mnm_ros.core.exploration import Exploration, Input
from mnm_ros.core.presets import settings
from mnm_ros.core.problem import Problem
from mnm_ros.simulation import scenario as scenarios
from mnm_ros.simulation.simulator import Simulator
import numpy as np


def durations(scenario: scenarios.Scenario, steps: int, folder: Path | None) -> tuple[
        np.ndarray, np.ndarray]:
    """Return the seconds of every step, and those of every call of the store."""
    exploration = Exploration(settings(Problem(len(scenario.actions), 4.0, 1.0, 0.1)))
    simulator = Simulator(scenario, 0)
    store = Store(folder, 'explorer', {}, transition_log=True) if folder else None
    whole, kept = np.empty(steps), np.zeros(steps)
    if store is not None:
        store.begin_generation(0, None)
        store.attach(exploration)
        keep = exploration.on_input
        assert keep is not None

        def timed(kind: Input, state: int, action: int) -> None:
            begun = time.perf_counter()
            keep(kind, state, action)
            kept[exploration.steps - 1] = time.perf_counter() - begun

        exploration.on_input = timed
    for step in range(steps):
        begun = time.perf_counter()
        action = exploration.next_action()
        exploration.observe(action, simulator.step(action))
        whole[step] = time.perf_counter() - begun
    if store is not None:
        store.close()
    return whole, kept


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(prog='benchmarks/checkpoint', description=__doc__)
    parser.add_argument('--steps', type=int, default=60_000)
    parser.add_argument('scenarios', nargs='*', default=['two_rooms', 'moving_wall'])
    given = parser.parse_args()
    print('ms                        median   99.9%     most   of the callback: 99.9%     most')
    for name in given.scenarios:
        scenario = scenarios.load(name)
        means = []
        for kept in (False, True):
            with tempfile.TemporaryDirectory() as folder:
                whole, callback = durations(
                    scenario, given.steps, Path(folder) if kept else None)
            means.append(whole.mean())
            row = [np.median(whole), np.quantile(whole, 0.999), whole.max()]
            tail = [np.quantile(callback, 0.999), callback.max()] if kept else []
            print(f'{name:14} {"kept" if kept else "not kept":9}'
                  + ''.join(f'{1e3 * value:9.3f}' for value in row)
                  + ' ' * (17 if tail else 0)
                  + ''.join(f'{1e3 * value:9.3f}' for value in tail))
        print(f'{name:14} mean step, kept over not kept: {means[1] / means[0]:.2f}')


if __name__ == '__main__':
    main()
