# Copyright 2026 mnm_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0
# Unless required by applicable law or agreed to in writing, software distributed under the License
# is distributed on an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express
# or implied. See the License for the specific language governing permissions and limitations under
# the License.

"""The report of a trial tells what happened."""

from __future__ import annotations

from dataclasses import dataclass
import math
import os
from pathlib import Path
import re
import sqlite3
import sys

from mnm_ros.checkpoint.input_log import InputLog, Saved
from mnm_ros.checkpoint.store import Store
from mnm_ros.core.exploration import Exploration, Input
from mnm_ros.core.presets import OPTIONS, settings
from mnm_ros.core.problem import Problem, RESET
from mnm_ros.simulation.families import draw
from mnm_ros.simulation.ground_truth import expected_steps
from mnm_ros.simulation.simulator import Simulator
from mnm_ros.trial import report
from mnm_ros.trial.replay import replay
import pytest


@dataclass
class Trial:
    folder: Path
    exploration: Exploration
    simulator: Simulator
    first: int    # steps to the first hypothesis


def identity(actions: tuple[str, ...], radius: float) -> dict:
    return {'actions': list(actions), 'radius': radius, 'epsilon': 1.0, 'delta': 0.1,
            'preset': 'onboard', 'seed': 3, 'version': '0.1.0',
            **{option.name: option.default for option in OPTIONS}}


@pytest.fixture(scope='module')
def trial(tmp_path_factory: pytest.TempPathFactory) -> Trial:
    """A world that changes and is relearnt, and a robot that is moved and paused now and then."""
    folder = tmp_path_factory.mktemp('trial')
    scenario = draw('changing_chain', 4, 3.0)
    simulator = Simulator(scenario, 1)
    exploration = Exploration(
        settings(Problem(len(scenario.actions), 3.0, 1.0, 0.1), 'onboard'), 3)
    store = Store(folder, 'r1.explorer', identity(scenario.actions, 3.0), transition_log=True)
    store.begin_generation(0, None)
    exploration.on_input = store.append
    first = 0
    while not exploration.changes_relearnt:
        action = exploration.next_action()
        exploration.observe(action, simulator.step(action))
        if not first and exploration.hypothesis:
            first = exploration.steps
        if first and exploration.steps == first + 1500:
            simulator.change()
        if exploration.steps % 997 == 0:
            exploration.relocate(simulator.state)
        if exploration.steps % 1499 == 0:
            exploration.lose_place()
        assert exploration.steps < 200_000, 'the change is not relearnt'
    store.close()
    return Trial(folder, exploration, simulator, first)


def log(trial: Trial) -> Path:
    return trial.folder / 'r1.explorer.log.sqlite'


def test_the_replay_ends_where_the_exploration_did(trial: Trial) -> None:
    summary = replay(Saved(log(trial)))
    assert summary.exploration.hypothesis == trial.exploration.hypothesis
    assert summary.exploration.counts == trial.exploration.counts
    assert summary.known[-1][1] == len(trial.exploration.hypothesis.targets)
    assert [step for step, count in summary.known if count][0] == trial.first
    assert summary.inputs[Input.RELOCATED] == trial.exploration.steps // 997
    assert summary.inputs[Input.INTERRUPTED] == trial.exploration.steps // 1499
    played = {action: 0 for _, action in trial.simulator.counts}
    for (_, action), seen in trial.simulator.counts.items():
        played[action] += sum(seen.values())
    assert summary.actions == played and RESET in played
    assert summary.exploration.changes_noticed == trial.exploration.changes_noticed >= 1


def test_the_figures_of_the_policies_are_near_the_truth(trial: Trial) -> None:
    """The estimates for states reached often since the change are off by 30% at most."""
    summary = replay(Saved(log(trial)))
    compared = 0
    for policy in trial.exploration.hypothesis.policies[1:]:
        if summary.reached(policy.target) < 100:
            continue
        truth = expected_steps(trial.simulator.cmp, policy)
        assert summary.steps_to(policy) == pytest.approx(truth, rel=0.3)
        compared += 1
    assert compared


def test_a_trial_that_ends_soon_after_a_change_was_noticed(trial: Trial) -> None:
    """Possibly no action of a policy has been tried since then."""
    summary = replay(Saved(log(trial)))
    summary.counts.clear()
    for policy in trial.exploration.hypothesis.policies[1:]:
        assert summary.steps_to(policy) == math.inf


def test_what_is_written(trial: Trial) -> None:
    path, = report.write(trial.folder)
    text = path.read_text(encoding='utf-8')
    known = trial.exploration.hypothesis.targets
    assert f'- steps: {trial.exploration.steps:,}\n' in text
    assert f'- first hypothesis: after {trial.first:,} steps\n' in text
    assert f'- known states: {len(known)}: {" ".join(map(str, known))}\n' in text
    assert '- changes: 1 noticed, 1 relearnt\n' in text
    rows = [line for line in text.split('## Actions')[0].splitlines()
            if re.match(r'\| \d+ ', line)]
    assert [int(row.split('|')[1].split()[0]) for row in rows] == list(known)
    assert "| preset | 'onboard' |" in text
    assert re.search(r'- time: until \d{4}-', text)


def test_with_a_figure(trial: Trial) -> None:
    pytest.importorskip('matplotlib')
    figure = trial.folder / 'report_r1.explorer.svg'
    figure.unlink(missing_ok=True)
    path, = report.write(trial.folder)
    assert f']({figure.name})' in path.read_text(encoding='utf-8')
    assert 'known states' in figure.read_text(encoding='utf-8')


def test_without_matplotlib(trial: Trial, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, 'matplotlib.figure', None)
    path, = report.write(trial.folder)
    assert '.svg' not in path.read_text(encoding='utf-8')


def test_from_the_first_launch_to_the_last_step(trial: Trial) -> None:
    (trial.folder / report.STARTS).write_text('2026-01-02 03:04:05\n2026-01-03 00:00:00\n')
    path, = report.write(trial.folder)
    (trial.folder / report.STARTS).unlink()
    assert re.search(r'- time: 2026-01-02 03:04:05 to \d{4}.*, launched 2 times\n',
                     path.read_text(encoding='utf-8'))


def test_the_last_step_before_a_crash(trial: Trial, tmp_path: Path) -> None:
    """The explorer was killed long ago, and what it wrote last is still in the journal."""
    whole = tmp_path / 'explorer.log.sqlite'
    whole.write_bytes(log(trial).read_bytes())
    folder = tmp_path / 'killed'
    folder.mkdir()
    running = InputLog.reopen(Saved(whole))
    running.append([(Input.INTERRUPTED, 0, RESET)])
    for path in tmp_path.glob('explorer.*'):
        part = folder / path.name
        part.write_bytes(path.read_bytes())
        os.utime(part, (1e9, 1e9))
    running.close()
    assert (folder / 'explorer.log.sqlite-wal').exists()
    for _ in range(2):    # reading does not count as writing
        path, = report.write(folder)
        assert '- time: until 2001-09-' in path.read_text(encoding='utf-8')


def test_what_cannot_be_reported(trial: Trial, tmp_path: Path,
                                 capsys: pytest.CaptureFixture) -> None:
    assert report.main([str(tmp_path)]) == 1
    assert 'has no *.log.sqlite, expected' in capsys.readouterr().err
    copy = tmp_path / 'explorer.log.sqlite'
    copy.write_bytes(log(trial).read_bytes())
    database = sqlite3.connect(copy)
    with database:
        database.execute('UPDATE inputs SET state = state + 1 WHERE number = 50')
    database.close()
    assert report.main([str(tmp_path)]) == 1
    assert 'is damaged: input 50 does not fit its checksum' in capsys.readouterr().err
