# SPDX-License-Identifier: Apache-2.0

"""``trial.launch.py`` keeps a trial whose explorer is killed, and its report tells of it."""

from __future__ import annotations

import os
from pathlib import Path
import re
import signal
import sqlite3

import pytest

pytest.importorskip('launch_ros', reason='launch_ros is not installed')

from launched import DEADLINE, Launch  # noqa: E402, I100
from mnm_ros.trial import report  # noqa: E402


def written(log: Path) -> int:
    """Return how many inputs are in a log that somebody is writing."""
    if not log.exists():
        return 0
    database = sqlite3.connect(f'file:{log}?mode=ro', uri=True)
    try:
        return database.execute('SELECT count(*) FROM inputs').fetchone()[0]
    finally:
        database.close()


def test_a_trial_and_its_report(tmp_path: Path) -> None:
    folder = tmp_path / 'trial'
    launched = Launch(tmp_path / 'output', 'trial', sim='true', scenario='corridor',
                      record_bag='false', trial_dir=folder)
    try:
        launched.wait_for(lambda: launched.exploring() == 1, 'exploration')
        pid, = launched.explorers()
        launched.wait_for(
            lambda: written(folder / 'explorer.log.sqlite') > 500, 'steps on the disk')
        os.kill(pid, signal.SIGKILL)
        launched.wait_for(lambda: 'going on from' in launched.output, 'that it goes on')
        launched.wait_for(lambda: launched.exploring() == 2, 'exploration')
    finally:
        launched.process.send_signal(signal.SIGINT)
        assert launched.process.wait(timeout=DEADLINE) == 0
    path, = report.write(folder)
    text = path.read_text(encoding='utf-8')
    assert '<dt>place lost (pause, restart, fault)</dt><dd>1</dd>' in text
    before, = re.findall(r'going on from .*: step (\d+)', launched.output)
    steps, = re.findall(r'<dt>steps</dt><dd>([\d,]+)', text)
    assert int(steps.replace(',', '')) >= int(before) > 0
    assert re.search(r'<dt>time</dt><dd>\d{4}-.* to \d{4}-', text)
