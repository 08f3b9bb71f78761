# SPDX-License-Identifier: Apache-2.0

"""
How long keeping an exploration on disk holds up its steps.

The same exploration runs twice in one process, without a store and with one, with everything
else as in the node. A step of the first run takes as long as its planning does; what keeping
adds is the time inside of the callback that hands each input to the store, and the time for
which the writing thread holds the interpreter.

With ``--restart``, how long it takes to go on from what is on the disk, in grids in which the
first hypothesis takes hundreds of thousands of steps: while it is being built, and later. Then
what a resume point takes of a million different transitions.
"""

from __future__ import annotations

import json
from pathlib import Path
import tempfile
import time
from typing import Any

from arguments import Arguments
from grids import grid, SIZES
from mnm_ros.checkpoint.input_log import SavedInputs
from mnm_ros.checkpoint.store import Store
from mnm_ros.core.exploration import Exploration
from mnm_ros.core.inputs import Update
from mnm_ros.core.model import snapshot
from mnm_ros.core.model.counts import Counts
from mnm_ros.core.model.problem import Problem
from mnm_ros.core.presets import settings
from mnm_ros.simulation import scenario as scenarios
from mnm_ros.simulation.simulator import Simulator
import numpy as np


def durations(scenario: scenarios.Scenario, steps: int, base: str,
              folder: Path | None) -> tuple[np.ndarray, np.ndarray]:
    """Return the seconds of every step, and those of every call of the store."""
    exploration = Exploration(settings(
        Problem(len(scenario.actions), 4.0, 1.0, 0.1), overrides={'base': base}))
    simulator = Simulator(scenario, 0)
    store = Store(folder, 'explorer', {}, transition_log=True) if folder else None
    whole, kept = np.empty(steps), np.zeros(steps)
    if store is not None:
        store.begin_generation(0, None)
        store.attach(exploration)
        keep, = exploration.listeners

        def timed(taken: Update) -> None:
            begun = time.perf_counter()
            keep.hear(taken)
            kept[exploration.steps - 1] = time.perf_counter() - begun

        exploration.listeners[:] = [timed]
    for step in range(steps):
        begun = time.perf_counter()
        action = exploration.next_action()
        exploration.observe(action, simulator.step(action))
        whole[step] = time.perf_counter() - begun
    if store is not None:
        store.close()
    return whole, kept


def restarts(side: int, steps: int, times: int, base: str) -> None:
    """Print what a restart takes after so many steps, and after each further as many."""
    scenario = grid(side)
    resolved = settings(Problem(4, SIZES[side], 1.0, 0.1), overrides={'base': base})
    exploration, simulator = Exploration(resolved), Simulator(scenario, 0)
    with tempfile.TemporaryDirectory() as folder:
        store = Store(Path(folder), 'explorer', {})
        store.begin_generation(0, None)
        store.attach(exploration)
        points = []
        to_state = exploration.to_state

        def timed() -> dict[str, Any]:
            begun = time.perf_counter()
            state = to_state()
            points.append(1e3 * (time.perf_counter() - begun))
            return state

        exploration.to_state = timed    # type: ignore[method-assign]
        for _ in range(times):
            for _ in range(steps):
                action = exploration.next_action()
                exploration.observe(action, simulator.step(action))
            if not store.flush(60.0):
                raise RuntimeError(f'not written: {store.problem}')
            begun, computing = time.perf_counter(), time.process_time()
            saved = SavedInputs(sorted(Path(folder).glob('*.sqlite'))[-1])
            restored = Exploration(resolved, resume=saved.point)
            saved.replay(restored)
            seconds = time.perf_counter() - begun
            computing = time.process_time() - computing
            restored.robot_answers()
            if restored.counts != exploration.counts or (
                    restored.next_action() != exploration.next_action()):
                raise RuntimeError('the restarted exploration is another one')
            print(f'{side:>6} {exploration.steps:>9,} {exploration.phase.value:24} '
                  f'{len(saved.inputs):>9,} {seconds:>8.2f} {computing:>8.2f} '
                  f'{len(points):>7} {np.median(points):>7.1f} {max(points):>7.1f}', flush=True)
        store.close()


def many_transitions(number: int) -> None:
    """Print what a resume point takes of the counts of ever new states."""
    counts = Counts()
    for state in range(number // 4):
        for action in range(4):
            counts.add(state, action, state + action + 1)
    begun = time.perf_counter()
    state = snapshot.take(counts)
    taken = time.perf_counter()
    text = json.dumps(state)
    written = time.perf_counter()
    snapshot.put(json.loads(text))
    print(f'\n{number:,} different transitions: {1e3 * (taken - begun):.0f} ms inside of a step, '
          f'{1e3 * (written - taken):.0f} ms to write, {len(text) / 1e6:.1f} MB, '
          f'{1e3 * (time.perf_counter() - written):.0f} ms to read')


def main() -> None:
    """Print the tables."""
    parser = Arguments(__doc__)
    parser.number('steps', 60_000)
    parser.base()
    parser.add_argument('scenarios', nargs='*', default=['two_rooms', 'moving_wall'])
    parser.add_argument('--restart', action='store_true')
    parser.add_argument('--sides', type=int, nargs='*', default=[15, 21], choices=tuple(SIZES))
    parser.number('restarts', 6, 'of each grid, after --steps each')
    given = parser.read()
    if given.restart:
        print(f'{"side":>6} {"steps":>9} {"phase":24} {"replayed":>9} {"s":>8} {"CPU s":>8} '
              f'{"points":>7} {"ms":>7} {"most":>7}')
        for side in given.sides:
            restarts(side, given.steps, given.restarts, given.base)
        many_transitions(1_000_000)
        return
    print('ms                        median   99.9%     most   of the callback: 99.9%     most')
    for name in given.scenarios:
        scenario = scenarios.load(name)
        means = []
        for kept in (False, True):
            with tempfile.TemporaryDirectory() as folder:
                whole, callback = durations(
                    scenario, given.steps, given.base, Path(folder) if kept else None)
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
