# SPDX-License-Identifier: Apache-2.0

"""
Test a robot side that is running against the step protocol.

The tests command the real robot: every action, several times, and RESET. Clear the way.
The exit status is 0 if all tests pass. Arguments that are unknown here go to pytest.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
import os
from pathlib import Path
from statistics import median
import sys
from types import ModuleType
from typing import Any

try:
    import pytest
except ImportError:
    sys.exit('mnm_ros.contract: pytest is not installed: apt install python3-pytest, '
             "or pip install 'pytest>=6.2'")

from mnm_ros.contract.robot import Robot
from mnm_ros.topics import ros_domain

CLAUSES = Path(__file__).with_name('clauses.py')


def plugin(found: Robot) -> ModuleType:
    """Return a plugin that gives the tests the robot side and prints a line for each test."""
    @pytest.fixture(scope='session')
    def robot() -> Iterator[Robot]:
        robot = found
        yield robot
        if robot.seconds:
            print(f'a step took {median(robot.seconds):.3g} s (median of {len(robot.seconds)}; '
                  f'longest {max(robot.seconds):.3g} s)')

    @pytest.hookimpl(tryfirst=True)
    def pytest_report_teststatus(report: Any) -> tuple[str, str, str]:
        """Keep pytest from printing results in its own way."""
        return report.outcome if report.when == 'call' or not report.passed else '', '', ''

    def pytest_runtest_logreport(report: Any) -> None:
        if report.passed and report.when != 'call':
            return
        name = report.nodeid.split('::test_')[-1].replace('_', ' ')
        print({'passed': 'ok      ', 'failed': 'FAILED  ', 'skipped': 'skipped '}[report.outcome]
              + name)
        reason = report.longrepr[2] if report.skipped else report.longreprtext
        for line in reason.removeprefix('Skipped: ').splitlines():
            print(f'        {line}', flush=True)

    module = ModuleType('robot_side')    # pytest finds fixtures in modules
    vars(module).update(
        robot=robot, pytest_report_teststatus=pytest_report_teststatus,
        pytest_runtest_logreport=pytest_runtest_logreport)
    return module


def main(arguments: Sequence[str] | None = None,
         program: str = 'python3 -m mnm_ros.contract') -> int:
    """Run the tests and return the exit status."""
    parser = argparse.ArgumentParser(
        prog=program, description=(__doc__ or '').strip(),
        formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add('--actions', type=int, required=True, help='number of actions, without RESET')
    add('--namespace', default='/', help='namespace of the robot side (default %(default)s)')
    add('--step-timeout', type=float, default=5.0, metavar='S',
        help='time within which the robot side has to answer every command (default %(default)s)')
    add('--quiet', type=float, default=0.5, metavar='S',
        help='time to wait for messages that must not come (default %(default)s)')
    words = list(sys.argv[1:] if arguments is None else arguments)
    # What is for ROS is read from the command line when a node is made.
    at = words.index('--ros-args') if '--ros-args' in words else len(words)
    options, rest = parser.parse_known_args(words[:at])
    for name in ('actions', 'step_timeout', 'quiet'):
        if not getattr(options, name) > 0:
            parser.error(f'--{name.replace("_", "-")} is {getattr(options, name)}, expected more '
                         'than 0')
    robot = Robot(options.namespace, options.actions, options.step_timeout, options.quiet)
    try:
        missing = robot.find()
        if missing:
            print(f'{missing} in ROS domain {ros_domain()}: start the '
                  'robot side first', file=sys.stderr)
            return 1
        return _run(robot, rest)
    finally:
        robot.close()


def _run(robot: Robot, arguments: Sequence[str]) -> int:
    """Run pytest on the clauses, for the robot side that was found."""
    # Neither settings nor a conftest.py of the current folder take part. Without a --confcutdir,
    # pytest looks at all files of each folder above that of the clauses.
    folder = str(CLAUSES.parent)
    return int(pytest.main(
        ['-c', os.devnull, '--rootdir', folder, '--confcutdir', folder, '--noconftest', '-qq',
         '--no-header', '--no-summary', '--tb=no', '-p', 'no:cacheprovider', '-s', *arguments,
         str(CLAUSES)],
        plugins=[plugin(robot)]))


if __name__ == '__main__':
    sys.exit(main())
