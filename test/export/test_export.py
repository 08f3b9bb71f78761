# SPDX-License-Identifier: Apache-2.0

"""What was learnt, from a log or a checkpoint, as routes and in every format."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
import csv
from dataclasses import replace
import io
import json
import os
from pathlib import Path
import re
import resource
import shutil
import sqlite3
import subprocess
from types import SimpleNamespace

from mnm_ros.checkpoint.input_log import InputLog
from mnm_ros.command.knowledge import export, policies
from mnm_ros.core.errors import CheckpointError, ExportError
from mnm_ros.core.exploration import Exploration
from mnm_ros.core.inputs import (
    ImproveInput,
    Input,
    Interruption,
    LookInput,
    Observation,
    Preference,
    Relocation,
    Update,
    WorkObservation,
)
from mnm_ros.core.knowledge.knowledge import Knowledge, nested, NO_ONE_NUMBER, StateKind
from mnm_ros.core.model.policy import Policy
from mnm_ros.core.model.problem import RESET
from mnm_ros.core.presets import OPTIONS, settings_by_name
from mnm_ros.core.task.step_task import play
from mnm_ros.export import writers
from mnm_ros.export.contents import ExportContents, in_words, read, route
from mnm_ros.export.formats import FORMATS
from mnm_ros.robot_description import RobotDescription
from mnm_ros.simulation import scenario
from mnm_ros.simulation.simulator import Simulator
from mnm_ros.view.scene import KINDS
import pytest

STEPS = 600
IDENTITY = {
    'version': '0.1.0', 'actions': ['east', 'west'], 'radius': 2.0, 'epsilon': 1.0, 'delta': 0.1,
    'preset': 'onboard', 'seed': 0, **{option.name: option.default for option in OPTIONS}}


@pytest.fixture(scope='module')
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the checkpoint_dir of an explorer of the corridor, whose last inputs are no steps."""
    folder = tmp_path_factory.mktemp('kept')
    exploration = Exploration(settings_by_name(IDENTITY), 0)
    heard: list[Input] = []
    middle: list[tuple[dict, int]] = []

    def keep(taken: Update) -> None:
        heard.append(taken.input)
        if exploration.steps % 50 == 25 and exploration.can_snapshot:
            middle[:] = [(exploration.to_state(), len(heard))]

    exploration.listeners.append(keep)
    play(exploration, Simulator(scenario.load('corridor'), 0).step, STEPS)
    exploration.relocate(1)
    exploration.lose_place()
    log = InputLog.create(folder / 'robot_1.explorer.log.sqlite', IDENTITY, None)
    log.append(heard)
    log.close()
    (point, number), = middle
    assert 0 < number < len(heard)
    generation = InputLog.create(
        folder / 'robot_1.explorer.00000004.sqlite', IDENTITY, point, number)
    generation.append(heard[number:])
    generation.close()
    return folder


@pytest.fixture(scope='module')
def learnt(folder: Path) -> ExportContents:
    return read(folder)


@pytest.fixture(scope='module')
def from_log(folder: Path) -> ExportContents:
    return read(folder, log=True)


KNOWN = Knowledge(
    100, 0, (0, 1, 2), (5,), (7,), True, policies={policy.target: policy for policy in (
        Policy(0, 4, (0, 1, 2), ((0, 0, 0),)), Policy(1, 4, (0, 1, 2), ((0, -1, 1),)),
        Policy(2, 4, (0, 1, 2), ((0, 1, 1), (1, 0, 1), (-1, 0, 1), (-1, -1, -1))))},
    counts=nested([(0, 0, 1, 6), (0, 0, 0, 3), (0, 0, 5, 1), (0, 1, 0, 4), (1, 0, 2, 1),
                   (1, 0, 1, 9), (1, 1, 7, 1), (1, 1, 2, 1), (2, -1, 0, 3)]),
    limit=2.0, names={2: 'be\\nch', 1: 'door'}, places={1: (0.5, 1.5)})
SHORT = ExportContents('a test', KNOWN, RobotDescription(
    ('ea"st', 'north'), names=KNOWN.names, positions=KNOWN.places))


def test_a_checkpoint_says_the_same_as_the_log(
        learnt: ExportContents, from_log: ExportContents) -> None:
    assert learnt.source.endswith('robot_1.explorer.00000004.sqlite')
    assert from_log.source.endswith('robot_1.explorer.log.sqlite')
    assert writers.as_json(learnt).splitlines()[2:] == writers.as_json(from_log).splitlines()[2:]
    known = learnt.knowledge
    assert known.known == (0, 1, 2) and known.of(StateKind.BEYOND) == (3,) and known.limit == 4.0
    assert known.steps == STEPS and known.home == 0


def test_names_and_places_are_those_kept_beside_the_files(folder: Path, tmp_path: Path) -> None:
    shutil.copytree(folder, tmp_path / 'kept')
    beside = tmp_path / 'kept' / 'robot_1.explorer.robot_side.json'
    for actions, names in ((('east', 'west'), {2: 'bench'}), (('north', 'south'), {})):
        beside.write_text(RobotDescription(actions, names={2: 'bench'}).to_text())
        described = read(tmp_path / 'kept').description
        assert (described.actions, dict(described.names)) == (('east', 'west'), names)


def test_a_folder_that_leaves_a_choice_is_refused(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match='has files of 0 explorers, expected those of one'):
        read(tmp_path)
    (folder / 'robot_2.explorer.00000001.sqlite').touch()
    with pytest.raises(CheckpointError, match='2 explorers: robot_1.explorer, robot_2.explorer'):
        read(folder)
    (folder / 'robot_2.explorer.00000001.sqlite').unlink()
    with pytest.raises(CheckpointError, match='does not begin with the exploration, expected a'):
        read(folder / 'robot_1.explorer.00000004.sqlite', log=True)


def test_a_route_is_the_most_likely_way() -> None:
    door, bench = KNOWN.policies[1], KNOWN.policies[2]
    assert [leg[:3] for leg in route(KNOWN, door) or ()] == [(0, 0, 1)]
    # It may stay where it is, as what it plays depends on the step: 0.6 * 0.1 is less than that.
    assert [leg[:3] for leg in route(KNOWN, bench) or ()] == [(0, 0, 1), (1, 0, 2)]
    assert in_words(SHORT.description, route(KNOWN, bench) or ()) == '2 ea"st'
    assert route(KNOWN, Policy(9, 4, (0, 1, 2), ((0, 0, 0),))) is None
    assert route(KNOWN, Policy(0, 4, (0, 1, 2), ((0, 0, 0),))) == ()


def test_expected_steps_are_those_of_the_counts(learnt: ExportContents) -> None:
    known = learnt.knowledge
    assert [known.steps_to(state) for state in (0, 3)] == [0.0, None]
    assert 1.0 < (known.steps_to(1) or 0) < 1.3 < (known.steps_to(2) or 0) < 2.6
    assert KNOWN.over_limit(2) and not KNOWN.over_limit(1)
    assert KNOWN.steps_to(7) is None


def test_everything_is_in_the_json(learnt: ExportContents) -> None:
    found = json.loads(writers.as_json(learnt))
    assert [(row['state'], row['kind']) for row in found['states']] == [
        (0, 'home'), (1, 'known'), (2, 'known'), (3, 'beyond')]
    assert found['actions'] == ['east', 'west'] and found['limit'] == 4.0
    assert sum(row['count'] for row in found['transitions']) == STEPS - 1
    by_target = {row['to']: row for row in found['policies']}
    assert [leg['action_name'] for leg in by_target[2]['route']] == ['east', 'east']
    short = json.loads(writers.as_json(SHORT))
    assert [(row['state'], row['kind'], row['name'], row['x']) for row in short['states']] == [
        (0, 'home', None, None), (1, 'known', 'door', 0.5), (2, 'known', 'be\\nch', None),
        (5, 'candidate', None, None), (7, 'lost', None, None)]


def test_the_tables_have_a_line_for_each_thing(learnt: ExportContents) -> None:
    def rows(written: bytes) -> list[dict[str, str]]:
        return list(csv.DictReader(io.StringIO(written.decode())))

    transitions = rows(writers.transitions_csv(learnt))
    assert sum(int(row['count']) for row in transitions) == STEPS - 1
    assert {row['action_name'] for row in transitions} == {'east', 'west', 'RESET'}
    states = rows(writers.states_csv(learnt))
    assert [row['state'] for row in states] == ['0', '1', '2', '3']
    assert states[3]['expected_steps'] == '' and states[3]['kind'] == 'beyond'


def test_the_log_has_every_input_in_its_order(from_log: ExportContents) -> None:
    written = FORMATS['log-csv'].write(from_log).decode().splitlines()
    assert len(written) == STEPS + 3
    assert written[0] == 'number,kind,state,action,action_name,next,source'
    assert written[1] == '1,observed,,-1,RESET,0,robot'
    assert written[-2:] == [f'{STEPS + 1},relocated,,,,1,', f'{STEPS + 2},interrupted,,,,,']
    steps = [line.split(',') for line in written[1:-2]]
    assert all(before[5] == after[2] for before, after in zip(steps, steps[1:]))


def test_the_log_of_several_robots_names_them(folder: Path) -> None:
    learnt = read(folder, log=True)
    assert learnt.saved is not None
    for number, robot in ((2, 'r1'), (STEPS + 2, 'deck/r2')):
        learnt.saved.inputs[number - 1] = replace(learnt.saved.inputs[number - 1], robot=robot)
    head, first, second, *_, last = FORMATS['log-csv'].write(learnt).decode().splitlines()
    assert head == 'number,kind,state,action,action_name,next,source,robot'
    assert first == '1,observed,,-1,RESET,0,robot,' and second.endswith(',r1,r1')
    assert last == f'{STEPS + 2},interrupted,,,,,,deck/r2'


def bag_of(inputs: list[Input]) -> list[tuple[str, list | str, int]]:
    """Write inputs as a bag; return topic, data and stamp in ns of all messages in their order."""
    reader = pytest.importorskip('mcap.reader')
    decoder = pytest.importorskip('mcap_ros2.decoder')
    saved = SimpleNamespace(identity=IDENTITY, inputs=inputs, first=0)
    file = io.BytesIO(FORMATS['log-mcap'].write(replace(SHORT, saved=saved)))
    messages = reader.make_reader(file, decoder_factories=[decoder.DecoderFactory()])
    kept, = messages.iter_metadata()
    assert kept.name == 'exploration'
    assert {name: json.loads(value) for name, value in kept.metadata.items()} == IDENTITY
    return [(channel.topic, [*said.data] if schema.name.endswith('Array') else said.data,
             message.log_time)
            for schema, channel, message, said in messages.iter_decoded_messages()]


def test_a_bag_has_the_topics_of_the_steps_with_the_numbers_of_the_inputs_as_times() -> None:
    half = 500_000_000
    assert bag_of(
        [Observation(RESET, 2**40), Observation(1, 7, 'deck/r2'), Relocation(-3),
         Interruption(), Interruption(RESET), Relocation(5, 0), WorkObservation(5, 1, 6),
         WorkObservation(6, 1, None, robot='deck/r2'), Preference(4, 1), LookInput(),
         LookInput(6, 1), ImproveInput(4, 0.1),
         ImproveInput(None, 0.0)]) == [
        ('/action', [1, -1], half), ('/state', [1, 2**40], 2 * half),
        ('/deck/r2/action', [2, 1], 3 * half), ('/deck/r2/state', [2, 7], 4 * half),
        ('/state', [-1, -3], 6 * half), ('/status', 'place lost', 8 * half),
        ('/action', [5, -1], 9 * half), ('/status', 'place lost', 10 * half),
        ('/action', [6, 0], 11 * half), ('/state', [-1, 5], 12 * half),
        ('/work', [5, 1, 6], 14 * half), ('/deck/r2/work', [6, 1], 16 * half),
        ('/goal', 4, 18 * half), ('/look', [], 20 * half), ('/look', [6, 1], 22 * half),
        ('/improve', [4], 24 * half),
        ('/improve', [], 26 * half)]


def test_a_bag_has_every_input_in_its_order() -> None:
    """Read back, it leads another exploration to the same place."""
    exploration, inputs = Exploration(settings_by_name(IDENTITY), 0), []
    exploration.listeners.append(lambda taken: inputs.append(taken.input))
    simulator = Simulator(scenario.load('corridor'), 0)
    for step in range(800):
        if step % 37 == 36:
            exploration.lose_place()
        if step % 101 == 100:
            exploration.next_action()
            exploration.relocate(1)
        if step % 53 == 52:
            exploration.next_action()
            exploration.lose_place()
        play(exploration, simulator.step, 1)
    assert {type(made) for made in inputs} == {Observation, Relocation, Interruption}
    assert {made.asked for made in inputs if isinstance(made, Interruption)} >= {None, RESET, 0}
    found, begun = [], None
    for topic, data, _ in bag_of(inputs):
        if topic == '/action':
            assert begun is None
            begun = data
        elif topic == '/state' and data[0] != -1:
            assert begun[0] == data[0] == len(found) + 1
            found.append(Observation(begun[1], data[1]))
            begun = None
        else:
            open_one = None if begun is None else begun[1]
            found.append(Interruption(open_one) if topic == '/status'
                         else Relocation(data[1], open_one))
            begun = None
    assert found == inputs
    again = Exploration(settings_by_name(IDENTITY), 0)
    for made in found:
        again.take(made)
    assert again.counts == exploration.counts and again.hypothesis == exploration.hypothesis


def test_mcap_that_is_missing_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__('sys').modules, 'mcap_ros2.writer', None)
    with pytest.raises(ExportError, match=r"pip install -e '\.\[bags\]'"):
        FORMATS['log-mcap'].write(SHORT)


def test_a_bag_is_written_and_refused_like_the_other_formats(
        folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Where there is no log, a damaged one, one that is not whole; over a file, and in a pipe."""
    pytest.importorskip('mcap_ros2')
    log, path = folder / 'robot_1.explorer.log.sqlite', tmp_path / 'a.mcap'
    path.write_text('of yesterday')
    damaged = tmp_path / 'damaged.log.sqlite'
    shutil.copy(log, damaged)
    with sqlite3.connect(damaged) as database:
        database.execute('UPDATE inputs SET state = state + 1 WHERE number = 50')
    database.close()
    os.mkfifo(tmp_path / 'pipe')
    os.mkfifo(tmp_path / 'pipe.log.sqlite')

    def written(source: Path, path: Path = path) -> tuple[int, str]:
        status = export(['--format', 'log-mcap', '--from', str(source), '--output',
                         str(path)], 'mnm_ros export')
        return status, capsys.readouterr().err

    for source, why in (
            (tmp_path / 'none.log.sqlite', 'no such file'), (tmp_path / 'pipe.log.sqlite', 'no '),
            (damaged, 'input 50 does not fit its checksum'),
            (folder / 'robot_1.explorer.00000004.sqlite', 'does not begin with the exploration')):
        status, said = written(source)
        assert status == 1 and why in said and path.read_text() == 'of yesterday'
    assert written(log) == (0, '') and path.read_bytes().startswith(b'\x89MCAP')
    with (tmp_path / 'heard').open('wb') as heard:
        listening = subprocess.Popen(['cat', tmp_path / 'pipe'], stdout=heard)
        assert written(log, tmp_path / 'pipe') == (0, '') and listening.wait(240) == 0
    assert (tmp_path / 'heard').read_bytes() == path.read_bytes()


def test_networkx_reads_the_graph_back(learnt: ExportContents) -> None:
    networkx = pytest.importorskip('networkx')
    graph = networkx.parse_graphml(FORMATS['graphml'].write(learnt).decode(), node_type=int)
    assert sorted(graph.nodes) == [0, 1, 2, 3] and graph.nodes[3]['kind'] == 'beyond'
    arcs = {(state, after, arc['label']): arc['count']
            for state, after, arc in graph.edges(data=True)}
    assert arcs[1, 2, 'east'] > 100 and not any(label == 'RESET' for *_, label in arcs)
    assert networkx.has_path(graph, 0, 3)


def test_graphviz_gets_quoted_labels() -> None:
    text = FORMATS['dot'].write(SHORT).decode()
    assert text.startswith('digraph learnt {\n') and text.endswith('}\n')
    assert '"0" -> "1" [label="ea\\"st 60%", penwidth=1.70];' in text
    assert '"2" [label="be\\\\nch (2)", fillcolor="' + KINDS['known'].colour + '80"' in text
    assert '"2" -> "0"' not in text    # RESET


def test_networkx_that_is_missing_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__('sys').modules, 'networkx', None)
    with pytest.raises(ExportError, match='apt install python3-networkx'):
        FORMATS['graphml'].write(SHORT)


def run(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    status = policies(words, 'mnm_ros policies')
    return (status, *capsys.readouterr())


def test_policies_are_printed_as_a_table_with_routes(
        folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, out, _ = run(capsys, '--from', str(folder))
    assert status == 0
    assert re.search(rf'3 states known after {STEPS:,} steps; the limit is 4 expected steps$', out,
                     re.MULTILINE)
    assert re.search(r'^2 +2\.\d\d +2 east *$', out, re.MULTILINE)
    assert out.endswith(
        f'{NO_ONE_NUMBER}\nmet, but outside the radius by the transitions so far: 3\n')
    status, out, _ = run(capsys, '--from', str(folder), '--json')
    found = json.loads(out)
    assert (status, found['known'], found['beyond'], found['home']) == (0, [0, 1, 2], [3], 0)


def test_one_route_is_printed_step_by_step(
        folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, out, _ = run(capsys, '--from', str(folder), '2')
    assert status == 0 and re.match(r'to 2: 2\.\d\d expected steps of at most 4\n', out)
    assert re.search(r'^ +2 +1 +east +2 +\d+%', out, re.MULTILINE)
    status, out, _ = run(capsys, '--from', str(folder), '2', '--json')
    assert status == 0 and [leg['next'] for leg in json.loads(out)['route']] == [1, 2]
    for state, why in (('3', 'no policy to state 3 was told; met, but outside'),
                       ('9', 'no policy to state 9 was told; not met yet'),
                       ('bench', "no state is called 'bench', expected its id")):
        status, out, error = run(capsys, '--from', str(folder), state)
        assert (status, out) == (1, '') and error.startswith(f'mnm_ros policies: {why}')


def test_a_file_that_is_none_is_refused(
        tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, out, error = run(capsys, '--from', str(tmp_path / 'none.sqlite'))
    assert (status, out) == (1, '') and 'none.sqlite cannot be read' in error


def test_a_file_is_written_where_it_is_asked_for(
        folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / 'learnt.dot'
    words = ['--from', str(folder), '--format', 'dot', '--output', str(path)]
    assert export(words, 'mnm_ros export') == 0
    assert path.read_text('utf-8').startswith('digraph learnt {')
    words[-1] = str(tmp_path / 'nowhere' / 'learnt.dot')
    assert export(words, 'mnm_ros export') == 1
    assert 'mnm_ros export: ' in capsys.readouterr().err
    # Nobody is looked for: an explorer that runs does not tell every step.
    assert export(['--format', 'log-csv'], 'mnm_ros export') == 1
    assert 'expected --from with a *.log.sqlite' in capsys.readouterr().err


def test_a_full_disk_leaves_the_older_file(
        learnt: ExportContents, tmp_path: Path, capsys: pytest.CaptureFixture[str],
        monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / 'learnt.json'
    path.write_text('of yesterday')
    words = ['--output', str(path)]
    monkeypatch.setattr('mnm_ros.command.source.find', lambda *arguments: learnt)
    with full_disk():
        assert export(words, 'mnm_ros export') == 1
    assert path.read_text() == 'of yesterday' and [*tmp_path.iterdir()] == [path]
    said = capsys.readouterr().err
    assert said.startswith('mnm_ros export: ') and said.endswith(f"File too large: '{path}'\n")
    assert export([*words[:-1], str(tmp_path / 'no' / 'a.json')], 'mnm_ros export') == 1
    assert capsys.readouterr().err.endswith('No such file or directory: '
                                            f"'{tmp_path / 'no' / 'a.json'}'\n")
    link = tmp_path / 'link.json'
    link.symlink_to(path)
    path.chmod(0o600)
    words[-1] = str(link)
    assert export(words, 'mnm_ros export') == 0
    assert json.loads(path.read_text())['home'] == 0
    assert link.is_symlink() and path.stat().st_mode & 0o777 == 0o600


def test_a_pipe_can_be_written_to(folder: Path, tmp_path: Path) -> None:
    path = tmp_path / 'pipe'
    os.mkfifo(path)
    end = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    words = ['--from', str(folder), '--format', 'states-csv', '--output', str(path)]
    assert export(words, 'mnm_ros export') == 0
    assert os.read(end, 2**16).startswith(b'state,name,')
    os.close(end)


@contextmanager
def full_disk() -> Iterator[None]:
    """Let no file become larger than a few bytes."""
    _, most = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, most))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))


def test_no_name_is_a_formula_in_a_table() -> None:
    """An apostrophe at the beginning of a text is none of it, and can be taken away."""
    names = {1: '=1+1', 2: '@SUM(A1)', 5: "'quoted'", 7: '\uff1d1'}
    learnt = replace(SHORT, description=RobotDescription(('+x', '-x'), names=names),
                     knowledge=replace(KNOWN, names=names))
    rows = csv.DictReader(io.StringIO(writers.states_csv(learnt).decode()))
    assert {row['state']: row['name'] for row in rows} == {
        '0': '', **{str(state): f"'{name}" for state, name in names.items()}}
    text = writers.transitions_csv(learnt).decode()
    assert "0,0,'+x,1," in text and "1,1,'-x,2," in text and '\n2,-1,RESET,0,' in text


@pytest.mark.parametrize('name', [name for name, row in FORMATS.items() if not row.places])
def test_every_format_can_be_written(
        name: str, learnt: ExportContents, from_log: ExportContents) -> None:
    if needed := {'graphml': 'networkx', 'log-mcap': 'mcap_ros2'}.get(name):
        pytest.importorskip(needed)
    assert FORMATS[name].write(from_log if FORMATS[name].log else learnt)
