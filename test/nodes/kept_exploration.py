# SPDX-License-Identifier: Apache-2.0

"""What keeps an exploration on disk, without a node."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from types import SimpleNamespace

from faulty_robot import Step
from mnm_ros.core.presets import OPTIONS
from mnm_ros.nodes.exploring.exploration_store import ExplorationStore
from mnm_ros.simulation.scenario import load
from mnm_ros.simulation.simulator import Simulator


def keeping(folder: Path, logged: list[str], transition_log: bool = True) -> ExplorationStore:
    """Return what keeps an exploration of a node that is none, and that logs into a list."""
    logger = SimpleNamespace(**{
        level: lambda text, level=level, **_: logged.append(f'{level}: {text}')
        for level in ('info', 'warning', 'error')})
    node = SimpleNamespace(
        get_fully_qualified_name=lambda: '/explorer', get_logger=lambda: logger)
    return ExplorationStore(node, {
        'actions': ['east', 'west'], 'radius': 4.0, 'epsilon': 1.0, 'delta': 0.1,
        'preset': 'onboard', 'seed': 0, 'checkpoint_dir': str(folder),
        'transition_log': transition_log, 'warm_start': '', 'overrides': '',
        **{option.name: option.default for option in OPTIONS}})


def learn(folder: Path, scenario: str) -> Counter[Step]:
    """
    Keep in a folder what an explorer knows when it has its first hypothesis of a scenario.

    Return how often each transition was counted.
    """
    store, simulator = keeping(folder, [], transition_log=False), Simulator(load(scenario), 0)
    while store.exploration.hypothesis is None:
        action = store.exploration.next_action()
        store.exploration.observe(action, simulator.step(action))
    store.close()
    return Counter({(state, action, after): times
                    for (state, action), row in store.exploration.counts.items()
                    for after, times in row.items()})
