# SPDX-License-Identifier: Apache-2.0

"""Keeps the nodes of every test run to themselves, selects tests, and names those left out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
import os
from pathlib import Path
import signal
import sys

import pytest

ROOT = Path(__file__).resolve().parents[1]

sys.path.insert(0, str(ROOT / 'benchmarks'))    # programs and what they share, no package

WITH_NODES = ('benchmarks', 'console', 'contract', 'launch', 'nodes')
"""Folders whose tests start nodes, other processes, or both."""

SLOW = {
    'test_audit.py': [
        'test_a_door_that_is_declared_to_be_none_is_told_in_3000_steps_and_nothing_is_missing',
        'test_without_audits_nothing_tells_of_it'],
    'test_broken_off.py': ['test_the_promise_is_kept_whatever_is_broken_off',
                           'test_streams_that_take_turns_break_nothing_off'],
    'test_certificate.py': ['test_a_bound_is_below_the_truth_with_no_more_than_its_probability'],
    'test_disco.py': ['test_it_ends_on_random_cmps_and_keeps_the_promise',
                      'test_it_ends_where_states_are_hard_to_certify',
                      'test_mnm_finds_a_hypothesis_with_it'],
    'test_episode.py': ['test_policies_that_take_the_radius_can_be_certified'],
    'test_exploration.py': [
        'test_it_finds_the_rooms_notices_the_door_and_finds_the_room_again'],
    'test_fleet.py': [
        'test_a_change_is_noticed_and_relearnt', 'test_eight_robots_are_six_times_as_fast',
        'test_robots_that_are_slow_silent_moved_or_late_change_nothing_but_the_speed',
        'test_the_door_on_the_way_to_what_is_wanted_closes',
        'test_the_first_hypothesis_is_right_and_every_step_is_counted_once'],
    'test_front.py': ['test_the_example_of_the_docstring',
                      'test_the_example_runs_without_ros_and_sees_the_door_close'],
    'test_large_files.py': ['test_a_large_table_loads_in_seconds'],
    'test_notebook.py': [
        'test_mnm_needs_the_fewest_exploration_steps_and_the_repairs_are_needed'],
    'test_optimistic_planner.py': [
        'test_a_chain_that_spends_the_budget_anyhow_is_not_sooner_there',
        'test_what_pairs_spend_together_agrees_with_value_iteration'],
    'test_probe.py': ['test_predictions_in_worlds_never_fitted_to'],
    'test_progress_estimator.py': ['test_the_story_of_a_change'],
    'test_promise.py': ['test_the_promise_is_kept'],
    'test_resume.py': ['test_from_every_resume_point_it_takes_the_same_way_again',
                       'test_it_takes_the_same_way_from_any_step'],
    'test_routes.py': ['test_nearly_every_pair_of_places_of_a_random_flat_has_a_route'],
    'test_site.py': ['test_the_site'],
    'test_transition_detector.py': ['test_all_pairs_together_keep_the_delta'],
    'test_ucb_explore.py': [
        'test_paper_on_the_corridor_takes_about_440_000_steps_and_knows_all_states'],
    'test_warm_start.py': ['test_the_promise_is_kept_and_steps_are_saved'],
    'test_watch_changes.py': ['test_a_benign_change_does_not_make_the_robot_stay_at_home'],
    'test_watch_phase.py': [
        'test_a_policy_at_the_limit_raises_the_alarm_as_rarely_as_its_delta_says'],
}
"""Tests that take seconds, most as they count how often something happens in many runs."""

LONG = (
    'test_command.py', 'test_several_robots.py', 'test_fleet.py', 'test_notebook.py',
    'test_exploration_store.py', 'test_live_run.py', 'test_turtlebot.py', 'test_work.py',
    'test_navigator_exploring.py', 'test_flat.py', 'test_page.py', 'test_contract.py',
    'test_plan_page.py', 'test_watch_changes.py', 'test_interrupted.py', 'test_planned.py',
    'test_promise_benchmark.py', 'test_grid_driver_safety.py', 'test_audit.py', 'test_site.py')
"""Files that take longest: the workers begin with them, and none ends alone with one."""


def _isolate() -> None:
    """
    Give this process and its children a ROS domain of their own, on this machine only.

    With pytest-xdist, every worker is a process that passes here.
    """
    from mnm_ros.console import environment
    for name in ('ROS_DOMAIN_ID', 'FASTDDS_BUILTIN_TRANSPORTS', 'ROS_LOCALHOST_ONLY',
                 'ROS_AUTOMATIC_DISCOVERY_RANGE'):
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
        '--quick', action='store_true',
        help='only tests that need no nodes, without the slow statistical ones')


def pytest_configure(config: pytest.Config) -> None:
    if config.getoption('quick'):
        collect_ignore.extend(WITH_NODES)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if hasattr(config, 'workerinput'):
        _take_turns(items)
    if not config.getoption('quick'):
        return
    for item in items:
        path, name = item.nodeid.split('::')[:2]
        if name.partition('[')[0] in SLOW.get(Path(path).name, ()):
            item.add_marker(pytest.mark.skip(reason='slow'))


def _take_turns(items: list[pytest.Item]) -> None:
    """
    Let long files begin, and those that wait for nodes take turns with those that compute.

    Each worker takes the next file: else all would compute at one time, and wait at another.
    """
    files = [*dict.fromkeys(item.nodeid.split('::')[0] for item in items)]
    waiting = [file for file in files if Path(file).parent.name in WITH_NODES]
    computing = [file for file in files if Path(file).parent.name not in WITH_NODES]
    turn = {file: number / len(each) for each in (waiting, computing)
            for number, file in enumerate(each)}
    for number, name in enumerate(LONG):
        turn.update((file, number - len(LONG)) for file in files if Path(file).name == name)
    items.sort(key=lambda item: turn[item.nodeid.split('::')[0]])


def _left_out(config: pytest.Config) -> Iterator[str]:
    if config.getoption('quick'):
        yield f'{", ".join(f"test/{folder}" for folder in WITH_NODES)} (not quick)'
    reporter = config.pluginmanager.get_plugin('terminalreporter')
    skipped = Counter()
    for report in reporter.stats.get('skipped', ()) if reporter else ():
        reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else 'skipped'
        skipped[report.nodeid.split('::')[0], reason.removeprefix('Skipped: ')] += 1
    for (path, reason), times in sorted(skipped.items()):
        yield f'{path}{f" x{times}" if times > 1 else ""} ({reason})'
    if os.environ.get('MNM_LEFT_OUT'):
        yield os.environ['MNM_LEFT_OUT']


@pytest.hookimpl(trylast=True)
def pytest_unconfigure(config: pytest.Config) -> None:
    """Print the last line; a worker of pytest-xdist reports to the process that prints it."""
    left_out = ', '.join(_left_out(config))
    if left_out and not hasattr(config, 'workerinput'):
        print(f'left out: {left_out}')
