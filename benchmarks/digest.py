# SPDX-License-Identifier: Apache-2.0

"""
Print a digest of ten seeded explorations: what they played, decided and learnt.

Equal digests before and after a change of the code mean that it does the same, bit for bit. The
ten cover both presets, both bases and all parts, a change half-way, and interruptions.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping
import hashlib
import random

from mnm_ros.core.exploration import Exploration
from mnm_ros.core.presets import settings_by_name
from mnm_ros.simulation.scenario import load
from mnm_ros.simulation.simulator import Simulator
from mnm_ros.view.sentences import sentence

# Scenario, steps, and what differs from the defaults of the explorer.
RUNS: tuple[tuple[str, int, Mapping[str, object]], ...] = (
    ('two_rooms', 60_000, {}),
    ('moving_wall', 60_000, {}),
    ('grid_3x3', 40_000, {'epsilon': 0.5}),
    ('endless_tree', 40_000, {'stream_data': 'own', 'streams': 'printed',
                              'stream_exponent': 3.0}),
    ('broken_wheel', 40_000, {'base': 'ucb_explore'}),
    ('shortcut', 40_000, {'radius': 3.0}),
    ('corridor', 3_000_000, {'preset': 'paper', 'accuracy_divisor': 2.0, 'stream_exponent': 3.0,
                             'c1': 0.03, 'check_window': 4}),
    ('broken_wheel', 150_000, {'checks': 'hoeffding', 'check_window': 3}),
    ('endless_corridor', 60_000, {'base': 'ucb_explore', 'evaluation': 'monte_carlo',
                                  'accuracy_divisor': 2.0, 'discovery': 'per_visit'}),
    ('two_rooms', 60_000, {'interrupted': True}),
)


def digest(name: str, steps: int, options: Mapping[str, object], seed: int) -> str:
    """Return the digest of one exploration."""
    scenario, rng = load(name), random.Random(f'interrupt {seed}')
    exploration = Exploration(settings_by_name({
        'actions': scenario.actions, 'radius': 4.0, 'epsilon': 1.0, 'delta': 0.1,
        'preset': 'onboard', **options}), seed)
    simulator, told = Simulator(scenario, seed), hashlib.sha256()
    status, hypothesis = '', None
    for step in range(steps):
        if step == steps // 2:
            simulator.change()
        action = exploration.next_action()
        state = simulator.step(action)
        exploration.observe(action, state)
        told.update(repr((action, state)).encode())
        if 'interrupted' in options and rng.random() < 0.001:
            if rng.random() < 0.5:
                exploration.relocate(state)
            else:
                exploration.lose_place()
        if exploration.status != status:
            status = exploration.status
            told.update(f'{step} {sentence(status)}'.encode())
        if exploration.hypothesis is not hypothesis:
            hypothesis = exploration.hypothesis
            told.update(repr(hypothesis).encode())
    told.update(repr(sorted(exploration.counts.items())).encode())
    return told.hexdigest()[:16]


def main() -> None:
    """Print a line for each exploration."""
    argparse.ArgumentParser(description=(__doc__ or '').strip().splitlines()[0]).parse_args()
    for seed, (name, steps, options) in enumerate(RUNS):
        print(digest(name, steps, options, seed), name, f'{steps:,}',
              *(f'{key}={value}' for key, value in options.items()), flush=True)


if __name__ == '__main__':
    main()
