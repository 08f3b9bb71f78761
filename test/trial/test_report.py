# SPDX-License-Identifier: Apache-2.0

"""The report of a trial tells what happened."""

from __future__ import annotations

from collections.abc import Iterator
from copy import copy
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import combinations
import math
import os
from pathlib import Path
import re
import resource
import shutil
import signal
import sqlite3
import sys
from typing import Any

from families import draw
from mnm_ros.checkpoint.input_log import InputLog, SavedInputs
from mnm_ros.checkpoint.store import Store
from mnm_ros.core.errors import FileError
from mnm_ros.core.exploration import Exploration
from mnm_ros.core.inputs import Interruption, Relocation
from mnm_ros.core.model.problem import Problem, RESET
from mnm_ros.core.presets import OPTIONS, settings
from mnm_ros.core.progress.events import Event
from mnm_ros.core.progress.trust import Trust
from mnm_ros.language import phrase
from mnm_ros.robot_description import RobotDescription
from mnm_ros.simulation.ground_truth import expected_steps
from mnm_ros.simulation.simulator import Simulator
from mnm_ros.trial import pictures, report
from mnm_ros.trial.facts import Facts
from mnm_ros.trial.replay import replay, ReplaySummary
from mnm_ros.trial.report import prepare, STARTS
import pytest
from tiers import strength

pytest.importorskip('matplotlib', reason='matplotlib is not installed')
pytest.importorskip('jinja2', reason='jinja2 is not installed')

NOON = 1_800_000_000.0    # or another time of the day
RADIUS = strength(2.0, 3.0)
SEED = strength(1, 0)    # of the world; what changes in the first one is soon relearnt
CHANGE, MOVE, LOSE = strength((600, 499, 701), (1500, 997, 1499))    # steps


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
    """Play in a world that changes, with a robot that is moved and paused now and then."""
    folder = tmp_path_factory.mktemp('trial')
    scenario = draw('changing_chain', SEED, RADIUS)
    simulator = Simulator(scenario, 1)
    exploration = Exploration(
        settings(Problem(len(scenario.actions), RADIUS, 1.0, 0.1), 'onboard'), 3)
    store = Store(folder, 'r1.explorer', identity(scenario.actions, RADIUS), transition_log=True)
    store.begin_generation(0, None)
    exploration.listeners.append(store.append)
    first = 0
    while not exploration.changes_relearnt:
        action = exploration.next_action()
        exploration.observe(action, simulator.step(action))
        if not first and exploration.hypothesis:
            first = exploration.steps
        if first and exploration.steps == first + CHANGE:
            simulator.change()
        if exploration.steps % MOVE == 0:
            exploration.relocate(simulator.state)
        if exploration.steps % LOSE == 0:
            exploration.lose_place()
        assert exploration.steps < 200_000, 'the change is not relearnt'
    store.close()
    return Trial(folder, exploration, simulator, first)


def log(trial: Trial) -> Path:
    return trial.folder / 'r1.explorer.log.sqlite'


@pytest.fixture(scope='module')
def summary(trial: Trial) -> ReplaySummary:
    """Return what a replay tells, which takes long."""
    return replay(SavedInputs(log(trial)))


def with_known(summary: ReplaySummary, **fields: Any) -> ReplaySummary:
    """Return the summary with something else known."""
    found = copy(summary)
    vars(found)['knowledge'] = replace(summary.knowledge, **fields)
    return found


def test_the_replay_ends_where_the_exploration_did(trial: Trial, summary: ReplaySummary) -> None:
    assert summary.exploration.hypothesis == trial.exploration.hypothesis
    assert summary.exploration.counts == trial.exploration.counts
    assert summary.known[-1][1] == len(trial.exploration.hypothesis.targets)
    assert [step for step, count in summary.known if count][0] == trial.first
    assert summary.inputs[Relocation] == trial.exploration.steps // MOVE
    assert summary.inputs[Interruption] == trial.exploration.steps // LOSE
    played = {action: 0 for _, action in trial.simulator.counts}
    for (_, action), seen in trial.simulator.counts.items():
        played[action] += sum(seen.values())
    assert summary.actions == played and RESET in played
    assert summary.exploration.changes_noticed == trial.exploration.changes_noticed >= 1


def test_it_is_told_what_each_of_several_robots_has_made(
        trial: Trial, summary: ReplaySummary) -> None:
    saved = SavedInputs(log(trial))
    facts = Facts(saved, summary, RobotDescription(('a',)))
    assert not [name for name, _ in facts.overview('') if name.startswith('steps of')]
    saved.inputs[:1234] = [replace(made, robot='r1') for made in saved.inputs[:1234]]
    saved.inputs[1299] = replace(saved.inputs[1299], robot='deck/r2')
    assert [row for row in facts.overview('') if row[0].startswith('steps of')] == [
        ('steps of deck/r2', '1'), ('steps of r1', '1,234')]
    assert 'transitions reported' not in dict(facts.overview(''))
    summary.exploration.sources['/hall/watcher'] = 7
    assert dict(facts.overview(''))['transitions reported'].startswith('7 by /hall/watcher, ')
    del summary.exploration.sources['/hall/watcher']


def test_the_figures_of_the_policies_are_near_the_truth(
        trial: Trial, summary: ReplaySummary) -> None:
    """The estimates for states reached often since the change are off by 30% at most."""
    compared = 0
    for policy in trial.exploration.hypothesis.policies[1:]:
        if summary.knowledge.visits[policy.target] < 100:
            continue
        truth = expected_steps(trial.simulator.cmp, policy)
        assert summary.knowledge.steps_to(policy.target) == pytest.approx(truth, rel=0.3)
        compared += 1
    assert compared


def test_what_happened_has_clock_times_where_they_were_kept(
        trial: Trial, summary: ReplaySummary) -> None:
    """Before that, decisions are as they were replayed, with the names of states."""
    change = next(event for event in summary.events if event.change)
    stop = Event(change.step + 1, 'paused', 'pause', time=NOON, seconds={0: 1.5, -1: 4.0})
    home = summary.exploration.home
    facts = Facts(SavedInputs(log(trial)), summary, RobotDescription(('a',), names={home: 'dock'}),
                  [stop, replace(stop, text='exploring', seconds=None, time=NOON + 60)])
    rows, number = facts.events()
    assert number == len(rows) and [event.text for _, event in rows[-2:]] == [
        'paused', 'exploring']
    assert rows[0] == ('', replace(
        summary.events[0], text='home is dock, building the first hypothesis'))
    assert 'before' in rows[-3][1].text and rows[-3][1].kind == 'change'
    assert datetime.strptime(rows[-1][0][4:], '%Y-%m-%d %H:%M:%S').timestamp() == NOON + 60


def test_a_flaky_action_is_seen(trial: Trial, summary: ReplaySummary) -> None:
    """Where it mostly leads is where it leads as usual; the mean time is what was kept last."""
    summary = with_known(summary, counts={
        0: {0: {1: 9, 0: 1}, 1: {0: 50}}, 1: {0: {2: 3, 1: 7}}, 5: {0: {5: 2}}})
    facts = Facts(SavedInputs(log(trial)), summary, RobotDescription(('a',)), [
        Event(1, 'paused', 'pause', seconds={0: 9.9}),
        Event(2, 'paused', 'pause', seconds={0: 1.5, -1: 4.0}), Event(3, 'exploring')])
    shown = [(row.usual, row.seconds) for row in facts.played()]
    assert shown[:2] == [(0.8, 1.5), (1.0, None)] and shown[-1] == (None, 4.0)


def test_states_without_places_are_in_a_circle(summary: ReplaySummary) -> None:
    plan = pictures.MapFigure(summary, RobotDescription(('a',)))
    places = list(plan._where.values())
    assert plan.circle and not plan.placed and len(places) > 3
    around = [math.hypot(place.x, place.y) for place in places]
    assert min(around) == pytest.approx(max(around))
    home = plan._where[summary.exploration.home]
    assert home.y == pytest.approx(-max(around))
    apart = [math.dist(one[:2], other[:2]) for one, other in combinations(places, 2)]
    assert min(apart) > 2 * max(place.radius for place in places)


def test_a_trial_that_ends_soon_after_a_change_was_noticed(
        trial: Trial, summary: ReplaySummary) -> None:
    """Possibly no action of a policy has been tried since then."""
    rows = Facts(SavedInputs(log(trial)), with_known(summary, counts={}, trust={}),
                 RobotDescription(('a',))).rows()
    assert [row.state for row in rows] == list(trial.exploration.hypothesis.targets[1:])
    assert all(row.note == 'too little tried' and not row.arrives for row in rows)


def test_a_trial_that_ends_before_the_first_hypothesis_tells_what_is_certified(
        tmp_path: Path) -> None:
    scenario = draw('changing_chain', SEED, RADIUS)
    simulator = Simulator(scenario, 1)
    exploration = Exploration(settings(Problem(len(scenario.actions), RADIUS, 1.0, 0.1)), 3)
    store = Store(tmp_path, 'r1.explorer', identity(scenario.actions, RADIUS), transition_log=True)
    store.begin_generation(0, None)
    exploration.listeners.append(store.append)
    certified: list[int] = []
    while not certified:
        assert exploration.hypothesis is None
        for _ in range(50):
            action = exploration.next_action()
            exploration.observe(action, simulator.step(action))
        certified = [told.policy.target for told in exploration.trust()
                     if told.trust is Trust.CERTIFIED]
    store.close()
    path, = report.write(tmp_path)
    text = path.read_text(encoding='utf-8')
    assert (f'<li>Certified, though it is open whether other states are within reach: '
            f'{", ".join(map(str, certified))}.</li>') in text
    assert 'certified (*)' in text and text.count('>*</text>') == len(certified)


def told(path: Path, name: str) -> str:
    """Return what a report says of something in its first list."""
    found, = re.findall(rf'<dt>{name}</dt><dd>(.*?)</dd>', path.read_text(encoding='utf-8'))
    return found


def cells(path: Path, heading: str) -> list[list[str]]:
    """Return the table below a heading."""
    part = path.read_text(encoding='utf-8').partition(f'<h2>{heading}</h2>')[2]
    table = part.partition('</table>')[0]
    rows = [re.findall(r'<td.*?>(.*?)</td>', row, re.DOTALL) for row in table.split('<tr>')]
    return [row for row in rows if row]


@pytest.fixture(scope='module')
def written(trial: Trial, summary: ReplaySummary) -> Path:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(report, 'replay', lambda saved: summary)    # as it was replayed once
        path, = report.write(trial.folder)
    return path


def test_what_is_written(trial: Trial, written: Path) -> None:
    path = written
    text = path.read_text(encoding='utf-8')
    known = trial.exploration.hypothesis.targets
    assert path.name == 'report_r1.explorer.html'
    assert told(path, 'steps') == f'{trial.exploration.steps:,}'
    assert told(path, 'first hypothesis') == f'after {trial.first:,} steps'
    assert told(path, 'known states') == str(len(known))
    assert told(path, 'changes') == '1 noticed, 1 relearnt'
    assert [int(row[0]) for row in cells(path, 'Known states')] == list(known[1:])
    assert told(path, 'preset') == 'onboard' and 'until 20' in told(path, 'time')
    assert (f'{len(known) - 1} states besides home can be reached, each within {2 * RADIUS:g} '
            'expected') in text
    phases = {row[0]: int(row[1].replace(',', '')) for row in cells(path, 'Steps by phase')}
    assert sum(phases.values()) == trial.exploration.steps - 1    # the first RESET is in none
    assert {'building/discovery', 'checking/rediscovery', 'checking/evaluation'} <= {*phases}
    met = trial.exploration.knowledge()
    assert {int(row[0]): row[1] for row in cells(
        path, 'Seen, but lost, outside the radius or not learnt yet')} == {
            state: phrase(f'kinds.{kind.value}', 'en') for state, kind in met.kinds.items()
            if state not in known} != {}


def test_the_page_needs_nothing_from_elsewhere(trial: Trial, written: Path) -> None:
    """One picture of the states, one of the time, and one of the way to each state."""
    text = written.read_text(encoding='utf-8')
    known = trial.exploration.hypothesis.targets
    assert text.count('<svg') == len(known) + 1
    assert text.count('<figcaption>') == len(known) - 1
    assert not re.search(r'<(script|link|img|iframe)|@import|url\((?!#)', text)
    assert all(name.startswith('#') for name in re.findall(r'(?:href|src)="(.*?)"', text))
    ids = re.findall(r'<clipPath id="(.*?)"', text)
    assert len(ids) == len({*ids})    # or pictures would take shapes from each other


def test_from_a_checkpoint(trial: Trial, tmp_path: Path) -> None:
    checkpoint = next(trial.folder.glob('r1.explorer.0*.sqlite'))
    assert report.main([str(checkpoint), '--out', str(tmp_path / 'c.html')]) == 0
    assert told(tmp_path / 'c.html', 'steps') == f'{trial.exploration.steps:,}'
    assert trial.exploration.can_snapshot    # and from one that no input has followed yet
    path = tmp_path / 'r1.explorer.00000001.sqlite'
    identity = SavedInputs(checkpoint).identity
    InputLog.create(path, identity, trial.exploration.to_state(), 7).close()
    assert report.main([str(path), '--out', str(tmp_path / 'c.html')]) == 0
    assert told(tmp_path / 'c.html', 'steps') == f'{trial.exploration.steps:,}'


def test_names_and_places_are_those_that_the_robot_side_has_told(
        trial: Trial, summary: ReplaySummary, tmp_path: Path,
        monkeypatch: pytest.MonkeyPatch) -> None:
    saved, path = SavedInputs(log(trial)), tmp_path / 'a.html'
    monkeypatch.setattr(report, 'replay', lambda saved: summary)
    known = trial.exploration.hypothesis.targets[1]
    places = {state: (float(state), 0.0) for state in range(-100, 100)}
    described = RobotDescription(tuple(saved.identity['actions']), names={known: 'the <door>'},
                                 positions=places)
    path.write_text(report.page(saved, '', described), encoding='utf-8')
    assert f'the &lt;door&gt; ({known})' in path.read_text() and 'arranged' not in path.read_text()


def test_without_the_libraries_a_sentence_says_what_to_install(
        trial: Trial, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture) -> None:
    for missing in ('matplotlib', 'jinja2'):
        with monkeypatch.context() as patched:
            patched.setitem(sys.modules, missing, None)
            assert report.main([str(trial.folder)]) == 1
        error = capsys.readouterr().err
        assert "pip install -e '.[report]'" in error and 'python3-jinja2' in error


def test_from_the_first_launch_to_the_last_step(trial: Trial) -> None:
    (trial.folder / report.STARTS).write_text('2026-01-02 03:04:05\n2026-01-03 00:00:00\n')
    span = report._span(trial.folder, report._last_written(log(trial)))
    (trial.folder / report.STARTS).unlink()
    assert re.fullmatch(r'2026-01-02 03:04:05 to \d{4}.*, launched 2 times', span)


def test_the_last_step_before_a_crash(trial: Trial, tmp_path: Path) -> None:
    """The explorer was killed long ago, and what it wrote last is still in the journal."""
    whole, saved = tmp_path / 'explorer.log.sqlite', SavedInputs(log(trial))
    begun = InputLog.create(whole, saved.identity, None)
    begun.append(saved.inputs[:500])
    begun.close()
    folder = tmp_path / 'killed'
    folder.mkdir()
    running = InputLog.reopen(SavedInputs(whole))
    running.append([Interruption()])
    for path in tmp_path.glob('explorer.*'):
        part = folder / path.name
        part.write_bytes(path.read_bytes())
        os.utime(part, (1e9, 1e9))
    running.close()
    assert (folder / 'explorer.log.sqlite-wal').exists()
    path, = report.write(folder)
    assert told(path, 'time').startswith('until 2001-09-')
    # Reading does not count as writing.
    assert report._last_written(folder / 'explorer.log.sqlite') == 1e9


@pytest.fixture
def never_waiting() -> Iterator[None]:
    """Fail instead of standing still."""
    def waits(number: int, frame: object) -> None:
        raise TimeoutError('something waits for the other end of a pipe')

    before = signal.signal(signal.SIGALRM, waits)
    signal.alarm(60)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


def test_a_pipe_is_refused_and_not_waited_for(
        tmp_path: Path, never_waiting: None, capsys: pytest.CaptureFixture[str]) -> None:
    names = ('run.mcap', 'explorer.log.sqlite')
    for name in names:
        os.mkfifo(tmp_path / name)
    assert report.main([str(tmp_path / name) for name in names]) == 1
    said = capsys.readouterr()
    assert said.out == ''
    for name, line in zip(names, said.err.splitlines(), strict=True):
        assert str(tmp_path / name) in line and 'regular' in line


def test_a_pipe_in_the_folder_of_a_trial_is_not_waited_for(
        trial: Trial, tmp_path: Path, never_waiting: None) -> None:
    os.mkfifo(tmp_path / STARTS)
    os.mkfifo(tmp_path / 'params.yaml')
    shutil.copy(log(trial), tmp_path)
    assert report._span(tmp_path, 0.0).startswith('until ')
    for given in (str(tmp_path / 'params.yaml'), ''):
        with pytest.raises((FileError, OSError), match='no regular file|No such device'):
            prepare(given, str(tmp_path), datetime(2026, 1, 1))


def test_a_full_disk_leaves_the_older_report(
        trial: Trial, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / 'report.html'
    path.write_text('of yesterday')
    monkeypatch.setattr(report, 'page', lambda *arguments: 'x' * 5000)
    shutil.copy(log(trial), tmp_path)
    _, most = resource.getrlimit(resource.RLIMIT_FSIZE)
    read = report.SavedInputs(log(trial))
    monkeypatch.setattr(report, 'SavedInputs', lambda source: read)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, most))
    try:
        with pytest.raises(OSError):
            report.write_one(tmp_path / log(trial).name, path)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))
    assert path.read_text() == 'of yesterday'


def test_what_cannot_be_reported(trial: Trial, tmp_path: Path,
                                 capsys: pytest.CaptureFixture) -> None:
    assert report.main([str(tmp_path)]) == 1
    assert 'has no *.log.sqlite, expected' in capsys.readouterr().err
    checkpoint = tmp_path / 'explorer.00000002.sqlite'
    checkpoint.touch()
    assert report.main([str(tmp_path)]) == 1
    assert f'or a checkpoint, such as {checkpoint}' in capsys.readouterr().err
    copy = tmp_path / 'explorer.log.sqlite'
    copy.write_bytes(log(trial).read_bytes())
    database = sqlite3.connect(copy)
    with database:
        database.execute('UPDATE inputs SET state = state + 1 WHERE number = 50')
    database.close()
    assert report.main([str(tmp_path)]) == 1
    assert 'is damaged: input 50 does not fit its checksum' in capsys.readouterr().err


def test_what_others_have_written_is_only_text(tmp_path: Path) -> None:
    """Names that would be HTML or TeX; files beside the log that are damaged."""
    actions = ('$\\frac{$', '<script>')
    simulator = Simulator(draw('changing_chain', SEED, RADIUS), 1)
    exploration = Exploration(settings(Problem(2, RADIUS, 1.0, 0.1), 'onboard'), 3)
    inputs: list = []
    for _ in range(50):
        action = exploration.next_action()
        inputs.append(exploration.observe(action, simulator.step(action)).input)
    path = tmp_path / 'explorer.log.sqlite'
    log = InputLog.create(path, identity(actions, RADIUS), None)
    log.append(inputs)
    log.close()
    (tmp_path / 'starts.txt').write_bytes(b'\xff\n')
    (tmp_path / 'explorer.robot_side.json').write_bytes(b'\xff')
    page = report.write_one(path, tmp_path / 'report.html').read_text(encoding='utf-8')
    assert '<script>' not in page and '&lt;script&gt;' in page and '$\\frac{$' in page
