# SPDX-License-Identifier: Apache-2.0

"""
Write what happened in an exploration as one HTML file: ``mnm_ros report PATH ...``.

Write a report of each transition log in the folder of a trial, of one log, or of a checkpoint. The
logs are the files ``*.log.sqlite``, kept with ``transition_log: true``. A report is one HTML file
that loads nothing from elsewhere, and can be printed.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
import os
from pathlib import Path
import sys
from typing import Any

from mnm_ros.checkpoint import event_log
from mnm_ros.checkpoint.database import COMPANIONS
from mnm_ros.checkpoint.input_log import refusing, SavedInputs
from mnm_ros.core.errors import CheckpointError, FileError, how_to_install, InvalidValueError
from mnm_ros.core.presets import base_factory
from mnm_ros.files import append_line, make_own, read_lines, read_regular, user_path, write_whole
from mnm_ros.language import ENGLISH, phrase
from mnm_ros.located_yaml import MOST_BYTES, WithExponents
from mnm_ros.robot_description import beside, kept_beside, RobotDescription
from mnm_ros.trial.facts import Facts, steps_in_words
from mnm_ros.trial.replay import replay
from mnm_ros.view.event_words import tone
from mnm_ros.view.scene import KINDS, TRUSTED
import yaml

INSTALL = ('a report needs the Python packages jinja2 and matplotlib: '
           + how_to_install('report', 'apt install python3-jinja2 python3-matplotlib'))

STARTS = 'starts.txt'
"""The file in the folder of a trial that has the time of each launch, a line each."""

_TARGETS = 80     # known states that have a picture of their own


def write(folder: Path) -> list[Path]:
    """
    Write the report of each log in the folder of a trial and return the paths of the reports.

    :raises CheckpointError: if there is no log, or if one is damaged, after the others were
        reported.
    """
    logs = sorted(folder.glob('*.log.sqlite'))
    if not logs:
        checkpoints = sorted(folder.glob('*.sqlite'))
        raise CheckpointError(
            f'{folder} has no *.log.sqlite, expected the checkpoint_dir of an explorer '
            'with transition_log: true'
            + (f', or a checkpoint, such as {checkpoints[-1]}' if checkpoints else ''))
    written, refusals = [], []
    for log in logs:
        name = log.name.removesuffix('.log.sqlite')
        try:
            written.append(write_one(log, folder / f'report_{name}.html'))
        except CheckpointError as refusal:
            refusals.append(str(refusal))
    if refusals:
        raise CheckpointError('\n'.join([*refusals, *(f'written: {path}' for path in written)]))
    return written


def write_one(source: Path, path: Path) -> Path:
    """
    Write the report of a log or a checkpoint, and return its path.

    :param path: of the report.
    :raises CheckpointError: if it cannot be read or replayed, or if a library is missing.
    """
    with refusing(source):
        end = _last_written(source)    # before SQLite writes to a log that a crash has left
        span = _span(source.parent, end)
        saved = SavedInputs(source)
        os.utime(source, (end, end))
        if not saved.inputs and saved.point is None:
            raise CheckpointError(f'{source} has no step, expected a trial that has begun')
        return write_whole(path, page(saved, span, kept_beside(saved.path)))


def page(saved: SavedInputs, span: str, description: RobotDescription) -> str:
    """
    Return the report as HTML.

    :param span: the beginning and the end in words, or ''.
    :raises CheckpointError: if it cannot be replayed, or if a library is missing.
    """
    try:
        from jinja2 import Environment, StrictUndefined
        import matplotlib  # noqa: F401 - which draws the pictures
    except ImportError:
        raise CheckpointError(INSTALL) from None
    template = Environment(
        autoescape=True, undefined=StrictUndefined, trim_blocks=True).from_string(
            Path(__file__).with_name('report.html.j2').read_text(encoding='utf-8'))
    return str(template.render(_values(saved, span, description)))


def _values(saved: SavedInputs, span: str, description: RobotDescription) -> dict[str, Any]:
    from mnm_ros.trial import pictures
    summary = replay(saved)
    facts = Facts(saved, summary, description, event_log.read(beside(saved.path, event_log.KEPT)))
    plan = pictures.MapFigure(summary, replace(description, actions=tuple(facts.actions)))
    verdict, remarks = facts.verdict()
    rows = facts.rows()
    events, all_events = facts.events()
    beyond, more_beyond = facts.beyond()
    phases = summary.steps_by_phase()
    kind = 'checkpoint' if saved.point else 'transition log'
    return {
        'title': f'Exploration: {saved.path.name}', 'source': f'Replayed from the {kind} '
        f'{saved.path.name}.', 'verdict': verdict, 'good': bool(facts.policies) and not remarks,
        'remarks': remarks, 'overview': facts.overview(span),
        'graph': plan.draw(),
        'small': plan.few, 'placed': plan.placed, 'circle': plan.circle,
        'states_legend': [(
            phrase(f'kinds.{kind}', ENGLISH) + (
                f' ({KINDS[kind].mark})' if kind in TRUSTED else ''), KINDS[kind].colour)
            for kind in plan.kinds],
        'actions_legend': pictures.colours(facts.actions),
        'time': pictures.draw_time(summary),
        'rows': rows, 'limit': f'{facts.limit:g}', 'in_words': steps_in_words,
        'targets': [(row, plan.draw_policy(policy))
                    for row, policy in list(zip(rows, facts.policies[1:]))[:_TARGETS]],
        'more_targets': max(0, len(rows) - _TARGETS), 'beyond': beyond, 'more_beyond': more_beyond,
        'radius': f'{saved.identity["radius"]:g}', 'phases': phases,
        'total': max((1, *phases.values())),
        'played': facts.played(), 'events': events, 'tone': tone, 'all_events': all_events,
        'configuration': facts.configuration(), 'versions': facts.versions()}


def _last_written(log: Path) -> float:
    """Return the time when the last step was written, in s since 1970."""
    parts = [part for part in (Path(f'{log}{companion}') for companion in COMPANIONS)
             if part.is_file() and part.stat().st_size]
    if not parts:
        raise CheckpointError(
            f'{log} cannot be read: no such file, no regular one, or an empty one')
    return max(part.stat().st_mtime for part in parts)


def _span(folder: Path, last: float) -> str:
    """Return in words the time from the first launch to the last step that was written."""
    end = datetime.fromtimestamp(last)
    starts = folder / STARTS
    if not starts.is_file():
        return f'until {end:%Y-%m-%d %H:%M:%S}'
    first, *others = read_lines(starts) or ['?']
    again = f', launched {len(others) + 1} times' if others else ''
    return f'{first} to {end:%Y-%m-%d %H:%M:%S}{again}'


def prepare(params_file: str, folder: str, now: datetime) -> Path:
    """
    Make or go on with a folder; return its ``params.yaml``, made from a file of parameters.

    :param params_file: of the explorer; '' for none.
    :param folder: '' for a new one in ``mnm_trials`` in the home folder.
    :raises OSError: if the folder cannot be written.
    :raises FileError: if the file cannot be read, with its name.
    :raises ValueError: if it is no file of parameters.
    """
    path = user_path(folder or f'~/mnm_trials/{now:%Y-%m-%d_%H-%M-%S}').resolve()
    given = read_regular(user_path(params_file), 'parameter', MOST_BYTES) if params_file else b''
    kept = keeping(given.decode('utf-8'), path)
    path.mkdir(parents=True, exist_ok=True)
    parameters = write_whole(path / 'params.yaml', kept)
    make_own(path / STARTS)
    append_line(path / STARTS, f'{now:%Y-%m-%d %H:%M:%S}')
    return parameters


def keeping(text: str, folder: Path) -> str:
    """Return parameters, as YAML, that also make the explorer keep everything in the folder."""
    try:
        tree = yaml.load(text, Loader=WithExponents) or {}
    except yaml.YAMLError as error:
        raise InvalidValueError(f'no YAML: {" ".join(str(error).split())}') from None
    if not isinstance(tree, dict):
        raise InvalidValueError(
            f'{type(tree).__name__}, expected parameters by the names of nodes')
    kept: dict[str, Any] = {'checkpoint_dir': str(folder), 'transition_log': True}
    _without(tree, kept)
    entry = tree['/**/explorer'] = tree.get('/**/explorer') or {}
    entry['ros__parameters'] = {**(entry.get('ros__parameters') or {}), **kept}
    # Strings are quoted: ROS would read a name like n as false.
    return yaml.dump(tree, Dumper=_Quoting, sort_keys=False)


class _Quoting(yaml.SafeDumper):
    """Writes every string in quotes."""


_Quoting.add_representer(str, lambda dumper, text: dumper.represent_scalar(
    'tag:yaml.org,2002:str', text, style='"'))


def _without(tree: dict[str, Any], names: dict[str, Any]) -> None:
    """Remove parameters from all entries, any of which might overrule the values of the trial."""
    for key, value in tree.items():
        if key == 'ros__parameters' and isinstance(value, dict):
            for name in names:
                value.pop(name, None)
        elif isinstance(value, dict):
            _without(value, names)


def main(arguments: Sequence[str] | None = None,
         program: str = 'python3 -m mnm_ros.trial.report') -> int:
    """Write the reports and print their paths."""
    parser = argparse.ArgumentParser(
        prog=program, description=(__doc__ or '').partition('\n\n')[2].replace('``', ''))
    parser.add_argument('paths', type=Path, nargs='+', metavar='PATH',
                        help='the folder of a trial, a log or a checkpoint')
    parser.add_argument('--output', '--out', type=Path, metavar='FILE',
                        help='file of the report, for one path that is no folder (default: '
                        'beside the path, with .html)')
    parser.add_argument('--base', default='', metavar='MODULE:FACTORY', help='base algorithm of '
                        'another package; allow its import if a log names it')
    given = parser.parse_args(arguments)
    try:
        if given.base:
            base_factory(given.base)
    except ValueError as error:
        parser.error(f'--base: {error}')
    if given.output and len(given.paths) > 1:
        parser.error('--output is for one path')
    status = 0
    for path in given.paths:
        try:
            path = user_path(path)
            if path.is_dir():
                written = write(path)
            else:
                out = given.output or path.with_name(f'{path.name}.html')
                written = [write_one(path, out)]
        except (CheckpointError, FileError, OSError) as error:
            print(error, file=sys.stderr)
            status = 1
        else:
            print('\n'.join(map(str, written)))
    return status


if __name__ == '__main__':
    sys.exit(main())
