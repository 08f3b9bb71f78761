# SPDX-License-Identifier: Apache-2.0

"""A robot with wheels learns one room, and failures that have a memory are told apart."""

from __future__ import annotations

import random
import subprocess
import sys

from mnm_ros.simulation import physics as simulated
import physics
from physics import markov, Step
import pytest
from tiers import strength, thorough


def moves(seed: int, after_failure: float) -> list[Step]:
    """Return moves that fail with probability 0.2, or with another one after a failure."""
    draw, found, before = random.Random(seed), [], None
    for _ in range(400):
        pair = draw.randrange(4), draw.randrange(2)
        failed = draw.random() < (after_failure if before and before[2] else 0.2)
        found.append(Step(before, *pair, pair[0] if failed else pair[0] + 1, True, 3.0, 0.0, True))
        before = 0, 0, failed
    return found


def test_failures_with_a_memory_are_seen_and_others_rarely() -> None:
    assert all(markov(moves(seed, 0.7), seed) == 0.001 for seed in range(strength(1, 2)))
    # More than 2 of 4, or 5 of 20, would have a probability below 0.0005 if p is uniform.
    runs, most = strength((4, 2), (20, 5))
    low = [seed for seed in range(100, 100 + runs) if markov(moves(seed, 0.2), seed) <= 0.05]
    assert len(low) <= most, low


def test_without_mujoco(
        monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(simulated, 'mujoco', None)
    with pytest.raises(SystemExit) as ending:
        physics.main(['--seeds', '1'])
    assert ending.value.code == 2 and 'needs the package mujoco' in capsys.readouterr().err


@thorough(shown_by=(
    'simulation/test_physics.py::test_the_seed_and_the_commands_determine_everything '
    'benchmarks/test_physics_benchmark.py::test_failures_with_a_memory_are_seen_and_others_rarely '
    'core/test_promise.py::test_the_promise_is_kept'))
def test_a_room_is_learnt_as_promised() -> None:
    """In a process of its own, as nodes are made in it."""
    pytest.importorskip('mujoco', reason='mujoco is not installed')
    done = subprocess.run(
        [sys.executable, physics.__file__, '--plans', 'one_room', '--seeds', '1', '--radius', '1',
         '--epsilon', '3', '--delta', '0.1', '--rest', '0', '--executions', '2',
         '--changes', '20', '--jobs', '1'],
        capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    names, values = (line.split() for line in done.stdout.splitlines()[-2:])
    names = ' '.join(names).replace('contact ', 'contact_').split()
    row = dict(zip(names, values, strict=True))
    assert (row['plan'], row['over'], row['changes']) == ('one_room', '0', '0')
    assert int(row['policies']) == 2 and 1 <= float(row['slowest']) <= 4
    # Of the few steps, most go straight on, which takes less than 2 s, and none leads home.
    assert 1 < float(row['s/step']) < 15 and float(row['contact_before']) < 5
    # When a pose arrives decides where the robot stands, and so whether it touches a wall.
    assert (row['tries'], row['noticed']) == ('0', 'None') and 0 <= int(row['touched']) <= 10
    assert int(row['wrong']) <= int(row['all']) / 100
