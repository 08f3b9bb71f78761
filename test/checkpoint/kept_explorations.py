# SPDX-License-Identifier: Apache-2.0

"""Explorations of the corridor that are kept on disk and come back."""

from __future__ import annotations

import atexit
from collections.abc import Callable
from copy import deepcopy
from functools import lru_cache
import math
from pathlib import Path
import shutil
import sqlite3
from tempfile import mkdtemp
from typing import Any
from unittest.mock import patch

from mnm_ros.checkpoint.input_log import SavedInputs
from mnm_ros.checkpoint.store import Store
from mnm_ros.core.exploration import Exploration
from mnm_ros.core.model.problem import Problem
from mnm_ros.core.presets import settings
from mnm_ros.simulation.scenario import load
from mnm_ros.simulation.simulator import Simulator
from tiers import strength

CORRIDOR = load('corridor')
LONG = strength(340, 4000)    # steps, with several resume points after the hypothesis
AFTER = 20    # steps after the last resume point, so that the newest file has inputs
DELTA = strength(0.5, 0.1)
SETTINGS = settings(Problem(2, 4.0, 1.0, DELTA))
IDENTITY = {'version': '0.1.0', 'actions': ['east', 'west'], 'radius': 4.0, 'epsilon': 1.0,
            'delta': DELTA, 'preset': 'onboard', 'seed': 0}


def keep(exploration: Exploration, store: Store, between: int = 1) -> None:
    """Keep all inputs from now on, with a generation after so many inputs at least."""
    store.begin_generation(0, None)
    store.attach(exploration, between=between)


def drive(exploration: Exploration, simulator: Simulator, steps: int) -> None:
    for _ in range(steps):
        action = exploration.next_action()
        exploration.observe(action, simulator.step(action))


def explored(folder: Path, steps: int) -> Exploration:
    """Return a copy of an exploration that was kept for so many steps, with its files."""
    kept, exploration = _explored_once(steps)
    shutil.copytree(kept, folder, dirs_exist_ok=True)
    return deepcopy(exploration)


@lru_cache(maxsize=None)
def _explored_once(steps: int) -> tuple[Path, Exploration]:
    folder = Path(mkdtemp())
    atexit.register(shutil.rmtree, folder)
    return folder, explore(folder, steps)


def explore(folder: Path, steps: int) -> Exploration:
    """Return an exploration that was kept for so many steps."""
    exploration, simulator = Exploration(SETTINGS), Simulator(CORRIDOR, 1)
    store = Store(folder, 'explorer', IDENTITY, transition_log=True)
    with by_inputs():
        keep(exploration, store, between=100)
        drive(exploration, simulator, steps // 2)
        exploration.relocate(2)
        simulator.state = 2
        drive(exploration, simulator, steps - steps // 2 - AFTER)
    with by_inputs(none=True):
        drive(exploration, simulator, AFTER)
        assert store.flush()
    store.close()
    exploration.listeners.clear()
    return exploration


def restored(folder: Path, identity: dict | None = None) -> tuple[Exploration | None, Store]:
    store = Store(folder, 'explorer', identity or IDENTITY, transition_log=True)
    loaded = store.load(revive)
    return (loaded[1] if loaded else None), store


def by_inputs(none: bool = False) -> Any:
    """Let inputs alone decide where resume points are, not how long computing takes; or none."""
    return patch.multiple('mnm_ros.checkpoint.store', MOST_REPLAYED=math.inf,
                          LEAST_COMPUTING_PER_POINT=math.inf if none else 0)


def revive(saved: SavedInputs) -> Exploration:
    exploration = Exploration(SETTINGS, resume=saved.point)
    saved.replay(exploration)
    return exploration


def same(first: Exploration, second: Exploration | None) -> bool:
    """Compare all but whether the robot answers, which is not kept."""
    for exploration in filter(None, (first, second)):
        exploration.robot_answers()
    return second is not None and (
        first.next_action(), first.hypothesis, first.counts, first.diagnostics()) == (
        second.next_action(), second.hypothesis, second.counts, second.diagnostics())


def newest(folder: Path) -> Path:
    return sorted(folder.glob('explorer.0*.sqlite'))[-1]


def truncate(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:3000])


def run_sql(statement: str) -> Callable[[Path], None]:
    def change(path: Path) -> None:
        with sqlite3.connect(path) as database:
            database.execute(statement)
        database.close()
    return change
