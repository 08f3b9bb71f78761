# SPDX-License-Identifier: Apache-2.0

"""A launch whose parameters are wrong ends at once with a status that is not 0, and says why."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
import signal

import pytest

pytest.importorskip('launch_ros', reason='launch_ros is not installed')

from launched import DEADLINE, Launch  # noqa: E402, I100

Start = Callable[..., Launch]


@pytest.fixture
def launch(tmp_path: Path) -> Iterator[Start]:
    started: list[Launch] = []

    def start(name: str, text: str, **arguments: object) -> Launch:
        path = tmp_path / 'params.yaml'
        path.write_text(text, encoding='utf-8')
        started.append(Launch(tmp_path / 'output', name, params_file=path, **arguments))
        return started[-1]

    yield start
    for each in started:
        if each.process.poll() is None:
            each.process.send_signal(signal.SIGINT)
        each.process.wait(timeout=DEADLINE)


@pytest.mark.parametrize('use_respawn', ['true', 'false'])
def test_a_bad_parameter_ends_the_launch(launch: Start, use_respawn: str) -> None:
    launched = launch('explore', '/**/explorer: {ros__parameters: {radius: 0.5}}',
                      scenario='corridor', use_respawn=use_respawn)
    assert launched.process.wait(timeout=DEADLINE) == 1
    assert "parameter 'radius' is 0.5, expected" in launched.output
    assert 'has ended with status 1' in launched.output
    assert len(launched.explorers()) == 1


@pytest.mark.parametrize(('text', 'complaint'), [
    ('/**/explorer:\n  ros__parameters:\n    # radius: 4.0\n', ':2: found nothing below ros__p'),
    ('/**/explorer:\n  ros__parameters: [1]\n', ':2: found a list below ros__parameters'),
    ('/**/explorer: {ros__parameters: [1\n', ':2: not YAML: '),
    ('- explorer\n', ':1: found a list, expected')])
@pytest.mark.parametrize('name', ['explore', 'robot', 'trial'])
def test_a_file_that_is_none_of_parameters_starts_nothing(
        launch: Start, tmp_path: Path, name: str, text: str, complaint: str) -> None:
    more = {'trial_dir': tmp_path / 'trial', 'sim': 'true'} if name == 'trial' else {}
    launched = launch(name, text, **more)
    assert launched.process.wait(timeout=DEADLINE) == 1
    assert f'{tmp_path / "params.yaml"}{complaint}' in launched.output
    assert 'process started' not in launched.output
    assert not (tmp_path / 'trial').exists()


def test_arguments_that_no_launch_file_has(launch: Start) -> None:
    launched = launch('robot', '/**/explorer: {ros__parameters: {radius: 0.5}}', radius='4.0',
                      use_respwan='true', unrelated='x', real_time_factor='1.0')
    assert launched.process.wait(timeout=DEADLINE) == 1
    warned = [line for line in launched.output.splitlines() if 'launch argument' in line]
    assert [line.partition(']: ')[2] for line in warned] == [
        "launch argument 'radius' is ignored: it is a parameter, expected in params_file",
        "launch argument 'use_respwan' is ignored: there is none of that name; did you "
        'mean use_respawn?']
