# SPDX-License-Identifier: Apache-2.0

"""The command `mnm_ros` knows its subcommands, and helps without ROS."""

from __future__ import annotations

import ast
from collections.abc import Callable
from datetime import datetime
import json
import multiprocessing
import os
from pathlib import Path
import subprocess
import sys
from typing import NamedTuple

from mnm_ros import __version__
from mnm_ros.checkpoint.input_log import InputLog
from mnm_ros.command import call, run
from mnm_ros.command.main import COMMANDS, main
from mnm_ros.topics import SERVICES
from mnm_ros.trial.report import prepare, STARTS
import pytest
from tiers import thorough
import yaml

ROOT = Path(__file__).resolve().parents[2]
OWN = [name for name, command in COMMANDS.items() if command.module.startswith('command.')]

WITHOUT_ROS = """
import contextlib, io, json, sys, traceback

class NoRos:
    def find_spec(self, name, path=None, target=None):
        top = name.partition('.')[0]
        if top in ('rclpy', 'numpy') or top.endswith(('_msgs', '_srvs', '_interfaces')):
            raise ModuleNotFoundError('no module ' + name, name=name)

sys.meta_path.insert(0, NoRos())
sys.argv[0] = 'mnm_ros'
from mnm_ros.command.main import main
answers = []
for words in json.loads(sys.argv[1]):
    out, error = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(error):
        sys.argv[1:] = words
        try:
            status = main()
        except SystemExit as ending:
            status = ending.code
        except BaseException:
            traceback.print_exc()
            status = 1
    answers.append([status or 0, out.getvalue(), error.getvalue()])
print(json.dumps(answers))
"""
SENTENCES = (['pause'], ['goal', '3'], ['watch'], ['policies'], ['export'], ['run', 'explorer'],
             ['preflight'], ['explore'])
NAMED = (['pause'], ['watch'], ['goal', '3'], ['run', 'explorer'])
ROBOT_1 = '--namespace', 'robot 1'


class Answer(NamedTuple):
    status: int
    out: str
    error: str


@pytest.fixture(scope='module')
def without_ros() -> Callable[..., Answer]:
    """Run commands, all in one process, where neither ROS nor numpy can be imported."""
    asked = [[], ['--help'], *([name, '--help'] for name in OWN if name != 'preflight'),
             *SENTENCES, *([*words, *ROBOT_1] for words in NAMED)]
    done = subprocess.run([sys.executable, '-c', WITHOUT_ROS, json.dumps(asked)],
                          capture_output=True, text=True, timeout=240)
    assert done.returncode == 0, done.stderr
    answers = [Answer(*answer) for answer in json.loads(done.stdout)]
    return lambda *words: answers[asked.index([*words])]


def test_help_names_every_command_without_ros(without_ros: Callable[..., Answer]) -> None:
    done = without_ros('--help')
    assert done.status == 0, done.error
    assert all(f'\n  {name} ' in done.out for name in COMMANDS)
    assert without_ros().out == done.out


def test_help_of_its_own_commands_needs_no_ros(without_ros: Callable[..., Answer]) -> None:
    for name in OWN:
        if name != 'preflight':    # prints the parameters of the node
            done = without_ros(name, '--help')
            assert done.status == 0 and f'usage: mnm_ros {name}' in done.out, done.error


@pytest.mark.parametrize('words', SENTENCES)
def test_without_ros_a_sentence_says_what_to_do(
        words: list[str], without_ros: Callable[..., Answer]) -> None:
    done = without_ros(*words)
    assert done.status == 1 and 'Traceback' not in done.error
    assert f'mnm_ros {words[0]}: ' in done.error and "pip install '.[ros]'" in done.error


@pytest.mark.parametrize('name', COMMANDS)
def test_every_command_has_help(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip('rclpy', reason='ROS 2 is not installed')
    try:
        status = main([name, '--help'])
    except SystemExit as ending:
        status = int(ending.code or 0)
    out = capsys.readouterr().out
    assert status == 0 and f'usage: mnm_ros {name} ' in out


@pytest.mark.parametrize('name', call.CALLS)
def test_help_of_a_call_says_what_it_is_for(
        name: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main([name, '--help'])
    said = ' '.join(capsys.readouterr().out.split())
    purpose = COMMANDS[name].help.replace('`', '')
    assert (f'{purpose[0].upper()}{purpose[1:]}. Calls the service {call.CALLS[name].service} ('
            ) in said


def test_the_reader_may_stop_reading(tmp_path: Path) -> None:
    """As head does: that is no error, and nothing is said."""
    path = tmp_path / 'explorer.log.sqlite'
    InputLog.create(path, {}, None).close()
    read, write = os.pipe()
    os.close(read)
    done = subprocess.run(
        [sys.executable, '-m', 'mnm_ros', 'checkpoint', str(path)],
        stdout=write, stderr=subprocess.PIPE, text=True, timeout=240)
    os.close(write)
    assert (done.returncode, done.stderr) == (0, '')


_COMPLAINS = """
import ctypes, sys
from mnm_ros.command import main

def run(words):
    ctypes.CDLL(None).puts(b'a library complains')
    ctypes.CDLL(None).fflush(None)
    print('1,east,2')
    return 0

main._run = run
sys.exit(main.main())
"""


def test_what_libraries_print_is_no_part_of_the_output() -> None:
    """A table that is written to a file would be useless with an error of Fast DDS in it."""
    done = subprocess.run([sys.executable, '-c', _COMPLAINS], capture_output=True, text=True,
                          timeout=240, check=True)
    assert (done.stdout, done.stderr) == ('1,east,2\n', 'a library complains\n')


@pytest.mark.parametrize('closed', ['2>&-', '>&- 2>&-', *(pytest.param(each, marks=thorough(
    'command/test_main.py::test_it_runs_where_nothing_can_be_printed')) for each in ('', '>&-'))])
def test_it_runs_where_nothing_can_be_printed(closed: str) -> None:
    """As from a script that closes what it does not read."""
    done = subprocess.run(f'{sys.executable} -m mnm_ros --version {closed}', shell=True,
                          stdout=subprocess.PIPE, text=True, timeout=240)
    assert done.returncode == 0 and (done.stdout == '') == closed.startswith('>')


def test_an_unknown_command_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ending:
        main(['dance'])
    assert ending.value.code == 2 and "'explore'" in capsys.readouterr().err


@pytest.mark.parametrize('words', NAMED)
def test_a_namespace_that_is_none_is_refused(
        words: list[str], without_ros: Callable[..., Answer]) -> None:
    done = without_ros(*words, *ROBOT_1)
    assert done.status == 2 and "namespace is 'robot 1', expected names of" in done.error


@pytest.mark.parametrize(('names', 'alone'), [
    (['explorer', 'preflight'], 'preflight'), (['explorer', 'explorer'], 'explorer')])
def test_several_nodes_in_one_process_are_different_ones(
        names: list[str], alone: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ending:
        main(['run', *names])
    told = capsys.readouterr().err
    assert ending.value.code == 2 and f'{alone} runs in a process of its own' in told
    assert 'cmp_sim' in told


def test_it_runs_whatever_is_an_executable() -> None:
    assert list(run.nodes()) == sorted(path.name for path in (ROOT / 'executables').iterdir())


def test_what_is_called_is_a_service_of_the_package() -> None:
    types = {service.name: service.type for service in SERVICES}
    assert {name for name in OWN if COMMANDS[name].module == 'command.call'} == set(call.CALLS)
    for called in call.CALLS.values():
        kind = 'Trigger' if called.data is None else 'SetBool'
        assert types[called.service] == f'std_srvs/{kind}'


def test_pip_installs_the_command() -> None:
    assert "f'{NAME} = {NAME}.command.main:main'" in (ROOT / 'setup.py').read_text('utf-8')
    assert callable(main)


def test_a_trial_keeps_everything_in_its_folder(tmp_path: Path) -> None:
    given = tmp_path / 'lift.yaml'
    given.write_text('/**:\n  ros__parameters: {actions: [n, y], delta: 1e-2, '
                     'checkpoint_dir: /elsewhere}\n')
    path = prepare(str(given), str(tmp_path / 'trial'), datetime(2026, 1, 2, 3, 4, 5))
    assert path == tmp_path / 'trial' / 'params.yaml'
    kept = yaml.safe_load(path.read_text())
    assert kept['/**']['ros__parameters'] == {'actions': ['n', 'y'], 'delta': 0.01}
    assert kept['/**/explorer']['ros__parameters'] == {
        'checkpoint_dir': str(tmp_path / 'trial'), 'transition_log': True}
    prepare(str(given), str(tmp_path / 'trial'), datetime(2026, 1, 2, 3, 5, 0))
    assert (tmp_path / 'trial' / STARTS).read_text().splitlines() == [
        '2026-01-02 03:04:05', '2026-01-02 03:05:00']


@pytest.mark.parametrize('text, complaint', [
    ('a: [', 'no YAML: '), ('[1, 2]', 'list, expected parameters')])
def test_parameters_of_a_trial_that_are_none(
        tmp_path: Path, text: str, complaint: str, capsys: pytest.CaptureFixture[str]) -> None:
    given = tmp_path / 'lift.yaml'
    given.write_text(text)
    assert main(['trial', '--params-file', str(given), '--trial-dir', str(tmp_path / 'new')]) == 1
    error = capsys.readouterr().err
    assert error.startswith(f'mnm_ros trial: {given}: {complaint}') and error.count('\n') == 1
    assert not (tmp_path / 'new').exists()


def test_the_examples_run_from_a_clone() -> None:
    """With nothing in PYTHONPATH, and from elsewhere."""
    for example in sorted(ROOT.glob('examples/*.py')):
        tree = ast.parse(example.read_text(encoding='utf-8'))
        first = next(node.lineno for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)
                     and (node.module or '').startswith('mnm_ros'))
        path = next(node.lineno for node in ast.walk(tree) if isinstance(node, ast.Call)
                    and ast.unparse(node.func) == 'sys.path.append')
        assert path < first, example.name


def complete(asked: dict[str, str]) -> None:
    """Run the command in a process of its own, as the shell does that asks."""
    os.environ.update(asked)
    sys.argv[:] = ['mnm_ros']
    main()


@pytest.mark.parametrize(('line', 'expected'), [
    ('mnm_ros po', {'policies'}), ('mnm_ros policies --j', {'--json'}),
    ('mnm_ros export --format state', {'states-csv'}), ('mnm_ros run expl', {'explorer'}),
    ('mnm_ros --v', {'--version'}), ('mnm_ros checkpoint --', set())])
def test_a_shell_completes_words(line: str, expected: set[str], tmp_path: Path) -> None:
    """As argcomplete's functions for bash and zsh ask for it."""
    pytest.importorskip('argcomplete', reason='argcomplete is not installed')
    told = tmp_path / 'told'
    asked = {'_ARGCOMPLETE': '1', '_ARGCOMPLETE_IFS': ' ',
             '_ARGCOMPLETE_STDOUT_FILENAME': str(told), 'COMP_TYPE': '9', 'COMP_LINE': line,
             'COMP_POINT': str(len(line))}
    if line == 'mnm_ros po':    # as a shell starts it; a fork begins at once
        subprocess.run([sys.executable, '-m', 'mnm_ros'], stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL, timeout=240, env={**os.environ, **asked})
    else:
        process = multiprocessing.get_context('fork').Process(target=complete, args=(asked,))
        process.start()
        process.join(240)
        assert process.exitcode is not None
    assert {*(told.read_text() if told.exists() else '').split()} == expected


@pytest.mark.parametrize(('words', 'meant'), [
    (['polcies'], 'policies'), (['run', 'explorr'], 'explorer'),
    (['policies', '--jsn'], '--json'), (['zzzzz'], None)])
def test_what_may_have_been_meant(
        words: list[str], meant: str | None, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ending:
        main(words)
    told = capsys.readouterr().err
    assert ending.value.code == 2
    assert f'; did you mean {meant}?' in told if meant else 'did you mean' not in told


def test_the_version(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ending:
        main(['--version'])
    assert not ending.value.code and capsys.readouterr().out == f'mnm_ros {__version__}\n'
