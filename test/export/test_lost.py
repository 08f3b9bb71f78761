# SPDX-License-Identifier: Apache-2.0

"""What is reached no longer is told so, live, by a log and by a checkpoint, in every format."""

from __future__ import annotations

from pathlib import Path

from mnm_ros.checkpoint.input_log import InputLog
from mnm_ros.command.knowledge import export, policies
from mnm_ros.core.exploration import Exploration
from mnm_ros.core.inputs import Input
from mnm_ros.core.knowledge.knowledge import StateKind
from mnm_ros.core.presets import OPTIONS, settings_by_name
from mnm_ros.core.progress.trust import Trust
from mnm_ros.core.task.step_task import play
from mnm_ros.export.contents import ExportContents, read
from mnm_ros.simulation import scenario
from mnm_ros.simulation.cmp import support
from mnm_ros.simulation.simulator import Simulator
import pytest
from tiers import strength, thorough

ROOMS = scenario.load('two_rooms')
BEHIND_THE_DOOR = {3, 4, 7, 8, 9, 13, 14}    # itself included
IDENTITY = {
    'version': '0.1.0', 'actions': list(ROOMS.actions), 'radius': strength(3.0, 4.0),
    'epsilon': 1.0, 'delta': strength(0.5, 0.1), 'preset': 'onboard', 'seed': 0,
    **{option.name: option.default for option in OPTIONS}}


@pytest.fixture(scope='module')
def kept(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, frozenset[int]]:
    """Return the checkpoint_dir of an explorer for which a door has closed, and what is lost."""
    folder, heard = tmp_path_factory.mktemp('kept'), list[Input]()
    exploration, simulator = Exploration(settings_by_name(IDENTITY), 0), Simulator(ROOMS, 0)
    exploration.listeners.append(lambda update: heard.append(update.input))
    point, number = None, 0
    while not exploration.lost or not exploration.can_snapshot:
        play(exploration, simulator.step, 1)
        if exploration.steps == strength(1000, 2500):
            simulator.change()
        assert exploration.steps < 6000
    point, number = exploration.to_state(), len(heard)
    play(exploration, simulator.step, 20)
    log = InputLog.create(folder / 'explorer.log.sqlite', IDENTITY, None)
    log.append(heard)
    log.close()
    generation = InputLog.create(folder / 'explorer.00000004.sqlite', IDENTITY, point, number)
    generation.append(heard[number:])
    generation.close()
    assert len(exploration.lost) > 3
    return folder, frozenset(exploration.lost)


@pytest.fixture(scope='module', params=['checkpoint', pytest.param('log', marks=thorough(
    'export/test_same_everywhere.py::test_files_say_what_the_exploration_says'))])
def learnt(kept: tuple[Path, frozenset[int]], request: pytest.FixtureRequest) -> ExportContents:
    return read(kept[0], log=request.param == 'log')


def test_a_file_tells_what_the_exploration_has_lost(
        kept: tuple[Path, frozenset[int]], learnt: ExportContents) -> None:
    """Issue: it was said to lie beyond the radius, so that who looked for a door raised that."""
    known = learnt.knowledge
    assert {*known.lost} == {*known.of(StateKind.LOST)} == kept[1]


def test_policies_and_exports_tell_it(
        kept: tuple[Path, frozenset[int]], learnt: ExportContents,
        capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert learnt.saved is not None
    monkeypatch.setattr('mnm_ros.command.source.find', lambda *arguments, **options: learnt)
    source = ['--from', str(learnt.saved.path)]
    assert policies(source, 'mnm_ros policies') == 0
    told = capsys.readouterr().out
    assert ('lost: its policy was deleted because of a change: '
            + ', '.join(map(str, sorted(kept[1])))) in told
    assert not [line for line in told.splitlines() if 'beyond' in line and any(
        str(state) in line.split() for state in kept[1])]
    lost = min(kept[1])
    assert policies([*source, str(lost)], 'mnm_ros policies') == 1
    assert 'lost: its policy was deleted because of a change' in capsys.readouterr().err
    assert export([*source, '--format', 'dot'], 'mnm_ros export') == 0
    drawn, = (line for line in capsys.readouterr().out.splitlines()
              if line.strip().startswith(f'"{lost}" ['))
    assert 'class=lost' in drawn


@pytest.mark.parametrize(('close', 'declared'), [
    pytest.param(1000, False, marks=thorough(
        'export/test_lost.py::'
        'test_what_was_certified_when_a_door_closed_is_lost_though_it_was_never_known '
        'export/test_lost.py::test_a_file_tells_what_the_exploration_has_lost')),
    (strength(80, 114), True)])
def test_what_was_certified_when_a_door_closed_is_lost_though_it_was_never_known(
        close: int, declared: bool, tmp_path: Path) -> None:
    """Issue: it was said to lie beyond the radius, or with a map to be assumed."""
    heard = list[Input]()
    exploration, simulator = Exploration(settings_by_name(IDENTITY), 1), Simulator(ROOMS, 1)
    exploration.listeners.append(lambda update: heard.append(update.input))
    play(exploration, simulator.step, 1)
    if declared:
        exploration.declare(support(ROOMS.settings[0].cmp))
    play(exploration, simulator.step, close - 1)
    certified = {told.policy.target for told in exploration.trust()
                 if told.trust is Trust.CERTIFIED}
    simulator.change()
    while exploration.changes_noticed == 0:
        play(exploration, simulator.step, 1)
    point, number = exploration.to_state(), len(heard)
    while exploration.hypothesis is None:
        play(exploration, simulator.step, 1)
        assert exploration.steps < close + 2000
    lost = certified.difference(exploration.hypothesis.targets)
    told = {*exploration.knowledge().of(StateKind.LOST)}
    assert lost and lost <= told <= BEHIND_THE_DOOR
    log = InputLog.create(tmp_path / 'explorer.log.sqlite', {**IDENTITY, 'seed': 1}, None)
    log.append(heard)
    log.close()
    kept = InputLog.create(
        tmp_path / 'explorer.00000004.sqlite', {**IDENTITY, 'seed': 1}, point, number)
    kept.append(heard[number:])
    kept.close()
    for from_log in strength((False,), (False, True)):
        assert read(tmp_path, from_log).knowledge.lost == exploration.lost
