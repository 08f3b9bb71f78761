"""Keeps the nodes of every test run to themselves, and names the tests that were left out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
import os
from pathlib import Path
import signal
import sys

import pytest

ROOT = Path(__file__).resolve().parents[1]


def _isolate() -> None:
    """Give this process and its children a ROS domain of their own, on this machine only."""
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


def _hear_sigint() -> None:
    """A shell starts background jobs with SIGINT ignored, and children would inherit that."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


_find_package()
_isolate()
_hear_sigint()


def _left_out(config: pytest.Config) -> Iterator[str]:
    reporter = config.pluginmanager.get_plugin('terminalreporter')
    skipped = Counter()
    for report in reporter.stats.get('skipped', ()) if reporter else ():
        reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else 'skipped'
        skipped[report.nodeid.split('::')[0], reason.removeprefix('Skipped: ')] += 1
    for (path, reason), times in skipped.items():
        yield f'{path}{f" x{times}" if times > 1 else ""} ({reason})'
    if 'MNM_LEFT_OUT' in os.environ:
        yield os.environ['MNM_LEFT_OUT']


@pytest.hookimpl(trylast=True)
def pytest_unconfigure(config: pytest.Config) -> None:
    left_out = ', '.join(_left_out(config))
    if left_out:
        print(f'left out: {left_out}')
