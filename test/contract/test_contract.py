# SPDX-License-Identifier: Apache-2.0

"""The tests for robot sides: those that ship pass, and each way to be wrong is found."""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
import importlib.util
import json
from pathlib import Path
import subprocess
import sys
from xml.etree import ElementTree

import pytest

pytest.importorskip('rclpy', reason='ROS 2 is not installed')

from mnm_ros.contract.__main__ import main  # noqa: E402, I100
from mnm_ros.simulation.diff_drive import driver_parameters  # noqa: E402
from mnm_ros.simulation.world import load  # noqa: E402
from tiers import strength, thorough  # noqa: E402
import wrong_robots  # noqa: E402

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
DEADLINE = 600.0    # s, against standing still: a slip takes the contract more orders
# Of the wrong robots, which are tested at the same time. By default there is one process for all
# robots: most take less than what is imported.
SHARES = strength(0, 4)

THROUGH_NODES = ('answers_twice', 'dies_of_malformed_commands', 'says_nothing_though_asked')
"""The ways that every run looks for in nodes; test_clauses.py has the others without."""

WRONG = {way: clause for way, clause in wrong_robots.WRONG.items()
         if strength(way in THROUGH_NODES, True)}

APART = ('dies_of_malformed_commands', 'executes_a_repeat_slowly_in_secret')
"""The ways that would disturb the other robots in one process."""

FLAT = load('one_room')

SHIPPED = {
    'cmp_sim': ([(['-m', 'mnm_ros.nodes.cmp_sim'], {'scenario': 'corridor'})], 2),
    'lift': ([([str(ROOT / 'examples' / 'lift.py')], {'seconds_per_floor': 0.02})], 2),
    'gym_side': ([(['-m', 'mnm_ros.nodes.gym_side'], {'environment': 'FrozenLake-v1'})], 4),
    'grid_driver': ([
        (['-m', 'mnm_ros.nodes.grid_driver'], driver_parameters(FLAT)),
        (['-m', 'mnm_ros.nodes.diff_drive_sim'],
         {'world': 'one_room', 'real_time_factor': 0.0, 'publish_clock': False})], 4),
}
"""The processes of each robot side, with their parameters, and the number of its actions."""


RIGHT = strength((), ('right',))
"""The robot of wrong_robots.py that breaks nothing; test_clauses.py has it without nodes."""

EVERY = ('cmp_sim',)
"""Those that every run tests; the others are of the class that cmp_sim is of."""


@dataclass
class Verdict:
    """messages: by test, of those that failed."""

    status: int
    output: str
    messages: dict[str, str]
    skipped: set[str]


_SEVERAL = """
import contextlib, json, sys
from mnm_ros.contract.__main__ import main
statuses = []
for output, words in json.load(sys.stdin):
    with open(output, 'w') as said, contextlib.redirect_stdout(said):
        statuses.append(main(words))
print(json.dumps(statuses))
"""


def contracts(folder: Path, tasks: Mapping[str, tuple[str, ...]]) -> dict[str, Verdict]:
    """Run the contract against some robot sides, one after the other, in a process of its own."""
    orders = [(str(folder / f'{name}.txt'), [
        '--actions', actions, '--namespace', name, '--step-timeout', '3', '--quiet', '0.2',
        f'--junitxml={folder / name}.xml', *more]) for name, (actions, *more) in tasks.items()]
    done = subprocess.run([sys.executable, '-c', _SEVERAL], input=json.dumps(orders),
                          stdout=subprocess.PIPE, text=True, timeout=DEADLINE)
    assert done.returncode == 0
    return {name: verdict(folder / name, status)
            for name, status in zip(tasks, json.loads(done.stdout))}


def verdict(path: Path, status: int) -> Verdict:
    cases = {case.get('name', ''): case
             for case in ElementTree.parse(path.with_suffix('.xml')).iter('testcase')}
    failed = {name: case.find('failure') for name, case in cases.items()}
    return Verdict(
        status, path.with_suffix('.txt').read_text(),
        {name: failure.get('message', '') for name, failure in failed.items()
         if failure is not None},
        {name for name, case in cases.items() if case.find('skipped') is not None})


@pytest.fixture(scope='module')
def verdicts(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Mapping[str, Verdict]]:
    """Run several at once: nearly all of the time is waiting."""
    folder = tmp_path_factory.mktemp('contract')
    wrong = str(HERE / 'wrong_robots.py')
    robots = [[wrong, *RIGHT, *(way for way in WRONG if way not in APART)],
              *([wrong, way] for way in APART if way in WRONG)]
    robots += [[*program, '--ros-args', '-r', f'__ns:=/{name}', *(
        word for key, value in parameters.items() for word in ('-p', f'{key}:={value}'))]
        for name, (processes, _) in shipped().items() for program, parameters in processes]
    processes = [subprocess.Popen([sys.executable, *robot], stderr=subprocess.DEVNULL)
                 for robot in robots]
    wrong_ways = {way: ('2', '-k', test) for way, test in WRONG.items()}
    patience: tuple[str, ...] = strength((), ('--step-timeout', '30'))    # as many run at once
    tasks = [*({name: (str(row[1]), *patience)} for name, row in shipped().items()),
             *({way: wrong_ways[way] for way in list(WRONG)[part::SHARES]}
               for part in range(SHARES))]
    if not SHARES:
        tasks = [dict(ChainMap(wrong_ways, *tasks))]
    tasks[-1].update(dict.fromkeys(RIGHT, ('2', *patience)))
    try:
        with ThreadPoolExecutor(len(tasks)) as pool:
            yield dict(ChainMap(*pool.map(partial(contracts, folder), tasks)))
    finally:
        for process in processes:
            process.kill()
        for process in processes:
            process.wait()


def shipped() -> dict:
    found = importlib.util.find_spec('gymnasium') is not None
    return {name: row for name, row in SHIPPED.items()
            if strength(name in EVERY, found or name != 'gym_side')}


@pytest.mark.parametrize('way', [way if way in THROUGH_NODES else pytest.param(way, marks=thorough(
    'contract/test_clauses.py::test_what_is_wrong_is_found')) for way in wrong_robots.WRONG])
def test_what_is_wrong_is_found(verdicts: Mapping[str, Verdict], way: str) -> None:
    verdict = verdicts[way]
    assert verdict.status == 1, verdict.output
    message = verdict.messages[wrong_robots.WRONG[way]].removeprefix('Failed: ')
    assert 'expected' in message or 'was gone' in message
    assert '\n' not in message and message in verdict.output


@pytest.mark.parametrize('name', [
    pytest.param('right', marks=thorough(
        'contract/test_clauses.py::test_what_is_right_passes '
        'contract/test_contract.py::test_what_is_right_passes')),
    *(name if name in EVERY else pytest.param(name, marks=thorough(
        'contract/test_contract.py::test_what_is_right_passes '
        'nodes/test_robot_side.py::test_unknown_and_malformed_actions_are_ignored '
        'nodes/test_robot_side.py::test_stop_and_go_on '
        'nodes/test_grid_driver.py::test_a_repeated_command_is_not_executed_again '
        'nodes/test_grid_driver.py::test_home_by_service_is_reported_once '
        'nodes/test_lift.py::test_it_takes_its_time_and_can_be_stopped'))
      for name in SHIPPED)])
def test_what_is_right_passes(verdicts: Mapping[str, Verdict], name: str) -> None:
    if name not in verdicts:
        pytest.skip('gymnasium is not installed')
    verdict = verdicts[name]
    assert verdict.status == 0, verdict.output
    # Not every robot that slips can be told from one that executes again, and a coin decides.
    assert verdict.skipped <= (set() if name == 'right' else {
        'test_a_repeated_command_is_not_executed_again'})
    assert 'a step took ' in verdict.output


def test_bad_arguments_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(['--actions', '0'])
    assert ended.value.code == 2
    assert '--actions is 0, expected more than 0' in capsys.readouterr().err
