# SPDX-License-Identifier: Apache-2.0

"""What ``trial.launch.py`` makes of its arguments and of the parameter file."""

from __future__ import annotations

from pathlib import Path
import re

import pytest
import yaml

pytest.importorskip('launch_ros', reason='launch_ros is not installed')

from launch.actions import IncludeLaunchDescription  # noqa: E402, I100
from loading import assert_described, context, load  # noqa: E402


def trial(**arguments: str) -> list:
    module = load('trial')
    return module._trial(context(module, **arguments))


def test_every_argument_has_a_description() -> None:
    assert_described(load('trial'))


def test_without_a_simulation_the_parameters_are_needed() -> None:
    with pytest.raises(RuntimeError, match='params_file is empty, expected a file that names'):
        trial()


@pytest.mark.parametrize('text', [
    '', '/**/explorer:', '/**/explorer: {ros__parameters: {actions: [y, "n"], seed: 1}}',
    'r1: {explorer: {ros__parameters: {checkpoint_dir: elsewhere, actions: [y, "n"]}}}',
    '/**: {ros__parameters: {transition_log: false, radius: 2.0}}'])
def test_everything_is_kept_in_the_folder_and_the_rest_is_as_it_was(
        tmp_path: Path, text: str) -> None:
    given, folder = tmp_path / 'given.yaml', tmp_path / 'a trial'
    given.write_text(text, encoding='utf-8')
    trial(params_file=str(given), trial_dir=str(folder))
    kept = (folder / 'params.yaml').read_text(encoding='utf-8')
    assert '"n"' in kept or 'actions' not in text
    tree = yaml.safe_load(kept)
    added = tree['/**/explorer']['ros__parameters']
    assert added.pop('checkpoint_dir') == str(folder) and added.pop('transition_log') is True
    assert kept.count('checkpoint_dir') == kept.count('transition_log') == 1
    for name, value in (('seed: 1', 1), ('radius: 2.0', 2.0)):
        assert (name in text) == (f'"{name.split(":")[0]}": {value}' in kept)


@pytest.mark.parametrize('number', ['1e-2', '1.0e5', '2.e3', '-1E+1', '.5e1'])
def test_a_number_as_ros_reads_it_stays_a_number(tmp_path: Path, number: str) -> None:
    given = tmp_path / 'given.yaml'
    given.write_text(f'/**: {{ros__parameters: {{delta: {number}, name: "1e-2"}}}}')
    trial(params_file=str(given), trial_dir=str(tmp_path / 'kept'))
    tree = yaml.safe_load((tmp_path / 'kept' / 'params.yaml').read_text(encoding='utf-8'))
    assert tree['/**']['ros__parameters'] == {'delta': float(number), 'name': '1e-2'}


def test_the_explorer_takes_the_time_as_asked(tmp_path: Path) -> None:
    for given in ('', 'true', 'false'):
        include, = (action for action in trial(
            sim='true', trial_dir=str(tmp_path), use_sim_time=given)
            if isinstance(action, IncludeLaunchDescription))
        assert dict(include.launch_arguments)['use_sim_time'] == given


def test_a_folder_is_gone_on_with(tmp_path: Path) -> None:
    for _ in range(2):
        trial(sim='true', trial_dir=str(tmp_path))
    starts = (tmp_path / 'starts.txt').read_text().splitlines()
    assert len(starts) == 2 and all(re.fullmatch(r'[\d-]{10} [\d:]{8}', each) for each in starts)


def test_the_bag(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    module = load('trial')
    monkeypatch.setattr(module, 'find_spec', lambda name: None)
    assert 'not installed' in module._bag('auto', tmp_path, '', ())[0].msg[0].text
    with pytest.raises(RuntimeError, match='record_bag is true, but ros2 bag is not installed'):
        module._bag('true', tmp_path, '', ())
    assert module._bag('false', tmp_path, '', ()) == []
    monkeypatch.setattr(module, 'find_spec', lambda name: name)
    for namespace, robots, there, elsewhere in (
            ('', (), '/action', '/a/action'), ('a', (), '/a/state', '/state'),
            ('', ('r1', 'deck/r2'), '/deck/r2/state', '/r3/state'),
            ('a', ('r1',), '/a/events', '/a/r1/r1/events')):
        process, = module._bag('auto', tmp_path, namespace, robots)
        words = [''.join(part.text for part in word) for word in process.cmd]
        assert words[:4] == ['ros2', 'bag', 'record', '--output']
        assert re.search(words[-1], there) and re.search(words[-1], '/diagnostics')
        assert not re.search(words[-1], elsewhere) and not re.search(words[-1], there + 's')
