# SPDX-License-Identifier: Apache-2.0

"""With ``use_respawn`` a node that was killed comes back and explores; the launch ends with 0."""

from __future__ import annotations

from collections.abc import Callable, Iterator
import os
from pathlib import Path
import signal

import pytest

pytest.importorskip('launch_ros', reason='launch_ros is not installed')

from launched import DEADLINE, Launch  # noqa: E402, I100


@pytest.fixture
def launch(tmp_path: Path) -> Iterator[Callable[[str], Launch]]:
    started: list[Launch] = []

    def start(use_respawn: str) -> Launch:
        started.append(Launch(
            tmp_path / 'output', 'explore', scenario='corridor', use_respawn=use_respawn))
        return started[-1]

    yield start
    for each in started:
        if each.process.poll() is None:
            each.process.send_signal(signal.SIGINT)
        each.process.wait(timeout=DEADLINE)


def test_a_killed_explorer_comes_back(launch: Callable[[str], Launch]) -> None:
    launched = launch('true')
    launched.wait_for(lambda: launched.exploring() == 1, 'exploration')
    os.kill(launched.explorers()[0], signal.SIGKILL)
    launched.wait_for(lambda: launched.exploring() == 2, 'exploration again')
    assert len(launched.explorers()) == 2
    launched.process.send_signal(signal.SIGINT)
    assert launched.process.wait(timeout=DEADLINE) == 0


def test_otherwise_the_launch_ends(launch: Callable[[str], Launch]) -> None:
    launched = launch('false')
    launched.wait_for(lambda: launched.exploring() == 1, 'exploration')
    os.kill(launched.explorers()[0], signal.SIGKILL)
    launched.wait_for(lambda: launched.process.poll() is not None, 'the end')
    assert len(launched.explorers()) == 1
