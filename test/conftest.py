# SPDX-License-Identifier: Apache-2.0

"""Keeps the nodes of every test run to themselves, selects tests, and names those left out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
import gc
import os
from pathlib import Path
import resource
import signal
import sys

import pytest
import tiers

ROOT = Path(__file__).resolve().parents[1]

sys.path.insert(0, str(ROOT / 'benchmarks'))    # programs and what they share, no package

def _isolate() -> None:
    """
    Give this process and its children a ROS domain of their own, on this machine only.

    With pytest-xdist, every worker is a process that passes here.
    """
    from mnm_ros.console import environment
    for name in ('ROS_DOMAIN_ID', 'FASTDDS_BUILTIN_TRANSPORTS', 'ROS_LOCALHOST_ONLY',
                 'ROS_AUTOMATIC_DISCOVERY_RANGE', 'FASTRTPS_DEFAULT_PROFILES_FILE',
                 'FASTDDS_DEFAULT_PROFILES_FILE'):
        os.environ.pop(name, None)
    environment.prepare(os.environ)


def _find_package() -> None:
    """Let tests and the nodes they start import the source tree, installed or not."""
    sys.path.insert(0, str(ROOT))
    os.environ['PYTHONPATH'] = os.pathsep.join(
        filter(None, (str(ROOT), os.environ.get('PYTHONPATH'))))


def _check_messages() -> None:
    """
    Let every field of a message refuse a wrong type, as it does on Humble without being asked.

    Newer distributions only look here, when a message is first imported, and else send garbage.
    """
    os.environ['ROS_PYTHON_CHECK_FIELDS'] = '1'


def _hear_sigint() -> None:
    """Hear SIGINT, which a shell lets its background jobs and their children ignore."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


_find_package()
_isolate()
_check_messages()
_hear_sigint()

collect_ignore: list[str] = []    # read by pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        '--quick', action='store_true', help='only tests that need no nodes and cost little')
    parser.addoption(
        '--all', action='store_true', help='also thorough tests, and full strength of the others')
    parser.addoption(
        '--record-costs', action='store_true', help='write test/costs.json, which says what is '
        'quick and which files are begun first')


def pytest_configure(config: pytest.Config) -> None:
    gc.disable()    # which saves a sixth of the collection, and a tenth of the tests
    config.addinivalue_line('markers', 'thorough(shown_by): a test that only --all runs')
    config.addinivalue_line('markers', 'quick: a test that --quick runs whatever it costs')
    tiers.choose(config.getoption('all'))
    if config.getoption('quick'):
        collect_ignore.extend(tiers.WITH_NODES)
    if config.getoption('record_costs'):
        if any(config.getoption(part) for part in ('quick', 'all', 'keyword', 'markexpr')):
            raise pytest.UsageError('--record-costs is of the whole default tier, expected no '
                                    'other option that selects tests')
        config.pluginmanager.register(_CostRecorder(config), 'costs')


def pytest_collection_finish() -> None:
    """Keep what was collected, which lives to the end, from being looked at by collections."""
    gc.collect()
    gc.freeze()


@pytest.fixture(autouse=True, scope='module')
def _collected() -> Iterator[None]:
    """Free what a file has left behind."""
    yield
    gc.collect(1)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    costs = tiers.recorded()
    if hasattr(config, 'workerinput'):
        _take_turns(items, costs)
    for item in items:
        if item.get_closest_marker('thorough') and not config.getoption('all'):
            item.add_marker(pytest.mark.skip(reason=_THOROUGH))
        elif (config.getoption('quick') and not item.get_closest_marker('quick')
              and costs.functions.get(_function(item.nodeid), 0.0) > tiers.QUICK):
            item.add_marker(pytest.mark.skip(reason=_SLOW))


_THOROUGH, _SLOW = '--all runs it', f'more than {tiers.QUICK} s of CPU time'


def _function(node: str) -> str:
    """Return the path of a test function below this folder, without the case."""
    return node.partition('[')[0].removeprefix('test/')


class _CostRecorder:
    """
    Adds up what tests cost: workers of pytest-xdist measure it, and their controller writes.

    A function is charged with each fixture that it shares as if it were alone, as in a tier in
    which the others are left out.
    """

    def __init__(self, config: pytest.Config) -> None:
        self._writes = not hasattr(config, 'workerinput')
        self._costs = tiers.Costs(Counter(), Counter())
        self._last = _cpu_time()
        self._shared: Counter[pytest.FixtureDef[object]] = Counter()
        self._charged: set[tuple[str, str]] = set()

    @pytest.hookimpl(hookwrapper=True)
    def pytest_fixture_setup(self, fixturedef: pytest.FixtureDef[object]) -> Iterator[None]:
        begun = _cpu_time()
        yield
        if fixturedef.scope != 'function':
            used = _cpu_time() - begun
            self._shared[fixturedef] += used
            self._last += used

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_makereport(self, item: pytest.Function) -> Iterator[None]:
        outcome = yield
        now = _cpu_time()
        report = outcome.get_result()
        report.cpu_time, self._last = now - self._last, now
        report.shared = {name: self._shared[each] for name in item.fixturenames
                         for each in item._fixtureinfo.name2fixturedefs.get(name, ())
                         if self._shared[each]}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        name = _function(report.nodeid)
        self._costs.functions[name] += report.cpu_time
        for fixture, used in report.shared.items():
            if (name, fixture) not in self._charged:
                self._charged.add((name, fixture))
                self._costs.functions[name] += used
        self._costs.files[name.partition('::')[0]] += report.duration

    def pytest_sessionfinish(self) -> None:
        if self._writes:
            self._costs.keep()


def _cpu_time() -> float:
    """Return the CPU time in s of this process, of those that it has waited for, and of nodes."""
    nodes = sys.modules.get('node_processes')
    return (nodes.cpu_time() if nodes else 0.0) + sum(
        used.ru_utime + used.ru_stime for used in map(
            resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)))


def _take_turns(items: list[pytest.Item], costs: tiers.Costs) -> None:
    """
    Let long files begin, and those that wait for nodes take turns with those that compute.

    Each worker takes the next file: else all would compute at one time, and wait at another.
    """
    files = [*dict.fromkeys(item.nodeid.split('::')[0] for item in items)]
    waiting = [file for file in files if Path(file).parent.name in tiers.WITH_NODES]
    computing = [file for file in files if Path(file).parent.name not in tiers.WITH_NODES]
    turn = {file: number / len(each) for each in (waiting, computing)
            for number, file in enumerate(each)}
    turn.update((file, -costs.files[_function(file)]) for file in files
                if _function(file) in costs.files)
    items.sort(key=lambda item: turn[item.nodeid.split('::')[0]])


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Print a failure at once: of a run that does not end, nothing would tell of it."""
    if report.failed and 'PYTEST_XDIST_WORKER' not in os.environ:
        print(f'\n{report.nodeid} ({report.when}):\n{report.longreprtext}', flush=True)


def _left_out(config: pytest.Config) -> Iterator[str]:
    if config.getoption('quick'):
        yield f'{", ".join(f"test/{folder}" for folder in tiers.WITH_NODES)} (not quick)'
    reporter = config.pluginmanager.get_plugin('terminalreporter')
    skipped: Counter[tuple[str, str]] = Counter()
    for report in reporter.stats.get('skipped', ()) if reporter else ():
        reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else 'skipped'
        reason = reason.removeprefix('Skipped: ')
        by_tier = reason in (_THOROUGH, _SLOW)
        skipped['tests' if by_tier else report.nodeid.split('::')[0], reason] += 1
    for (path, reason), times in sorted(skipped.items()):
        yield (f'{times} tests ({reason})' if path == 'tests' else
               f'{path}{f" x{times}" if times > 1 else ""} ({reason})')
    if os.environ.get('MNM_LEFT_OUT'):
        yield os.environ['MNM_LEFT_OUT']


@pytest.hookimpl(trylast=True)
def pytest_unconfigure(config: pytest.Config) -> None:
    """Print the last line; a worker of pytest-xdist reports to the process that prints it."""
    left_out = ', '.join(_left_out(config))
    if left_out and not hasattr(config, 'workerinput'):
        print(f'left out: {left_out}')
