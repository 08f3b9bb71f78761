# SPDX-License-Identifier: Apache-2.0

"""What is on the disk when a call returns is there after a power cut at any later moment."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from forgetful_disk import ForgetfulDisk
from kept_explorations import CORRIDOR, drive, IDENTITY, keep, restored, same, SETTINGS
from mnm_ros.checkpoint.input_log import InputLog, SavedInputs
from mnm_ros.checkpoint.store import Store
from mnm_ros.core.exploration import Exploration
from mnm_ros.core.inputs import Observation
from mnm_ros.files import write_whole
from mnm_ros.simulation.simulator import Simulator
import pytest


@pytest.fixture
def disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ForgetfulDisk]:
    folder = tmp_path / 'kept'
    folder.mkdir()
    with ForgetfulDisk(folder).installed(monkeypatch) as installed:
        yield installed


def test_what_is_not_flushed_is_forgotten(disk: ForgetfulDisk) -> None:
    """Else the tests below would show nothing."""
    (disk.folder / 'file').write_text('content')
    assert not [*disk.after_power_cut().iterdir()]


def test_each_input_that_is_appended_is_there(disk: ForgetfulDisk) -> None:
    log = InputLog.create(disk.folder / 'inputs.sqlite', IDENTITY, None)
    for number in range(5):
        assert SavedInputs(disk.after_power_cut() / 'inputs.sqlite').number == number
        log.append([Observation(0, number)])
    log.close()


def test_a_file_that_is_written_whole_is_there(disk: ForgetfulDisk) -> None:
    for text in ('first', 'second'):
        write_whole(disk.folder / 'file', text)
        assert (disk.after_power_cut() / 'file').read_text() == text


def test_all_that_is_flushed_comes_back(disk: ForgetfulDisk) -> None:
    exploration, simulator = Exploration(SETTINGS), Simulator(CORRIDOR, 1)
    store = Store(disk.folder, 'explorer', IDENTITY, transition_log=True)
    keep(exploration, store)
    for steps in (1, 40, 400):    # the last of which begins other generations
        drive(exploration, simulator, steps)
        assert store.flush()
        second, other = restored(disk.after_power_cut())
        assert same(exploration, second) and other.refusals == other.losses() == []
        other.close()
    store.close()
    assert store.path is not None and not store.path.name.endswith('00000001.sqlite')


@pytest.mark.quick
def test_no_moment_at_which_the_power_fails_costs_what_was_flushed_before(
        disk: ForgetfulDisk) -> None:
    """While a generation replaces another one, as well."""
    exploration, simulator = Exploration(SETTINGS), Simulator(CORRIDOR, 1)
    store = Store(disk.folder, 'explorer', IDENTITY)
    keep(exploration, store)
    drive(exploration, simulator, 120)
    assert store.flush()
    cuts: list[Path] = []
    disk.after_each_flush = lambda: cuts.append(disk.after_power_cut())
    store.begin_generation(120, exploration.to_state())
    assert store.flush()
    store.close()
    disk.after_each_flush = None
    assert len(cuts) > 3
    for cut in cuts:
        second, other = restored(cut)
        assert same(exploration, second) and other.refusals == []
        other.close()
