# Copyright 2026 mnm_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0
# Unless required by applicable law or agreed to in writing, software distributed under the License
# is distributed on an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express
# or implied. See the License for the specific language governing permissions and limitations under
# the License.

"""
Write the report of a trial: ``python3 -m mnm_ros.trial.report TRIAL_DIR``.

For every transition log in the folder (``*.log.sqlite``, kept with ``transition_log: true``) it
writes in Markdown what happened, what is known and how well, with a figure if matplotlib is
installed.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from datetime import datetime
import math
import os
from pathlib import Path
import sys

from mnm_ros.checkpoint.input_log import COMPANIONS, Refused, Saved
from mnm_ros.core.exploration import Input
from mnm_ros.core.presets import OPTIONS
from mnm_ros.core.problem import RESET
from mnm_ros.trial.replay import replay, ReplaySummary

STARTS = 'starts.txt'
"""The file in the folder of a trial that has the time of each launch, a line each."""

_EVENTS = 40      # the last ones, which are listed
_ENOUGH = 3       # times; a policy with an action tried less often is marked


def report(saved: Saved, summary: ReplaySummary, span: str, figure: str) -> str:
    """
    Return the report of one log as Markdown.

    :param span: the beginning and the end in words, or ''.
    :param figure: the name of the file of the figure, or ''.
    """
    return '\n'.join(line for part in (
        _overview(saved, summary, span),
        (f'![known states over steps]({figure})', '') if figure else (),
        _policies(saved, summary), _actions(saved, summary), _events(summary), _parameters(saved),
    ) for line in part)


def _overview(saved: Saved, summary: ReplaySummary, span: str) -> Iterator[str]:
    exploration, inputs = summary.exploration, summary.inputs
    known = exploration.hypothesis.targets if exploration.hypothesis else ()
    yield from (f'# Trial report: {saved.path.name}', '')
    if saved.point is not None:
        yield from ('The log does not begin with the exploration; this is its last part.', '')
    first = next((step for step, count in summary.known if count), None)
    for name, value in (
            ('time', span),
            ('steps', f'{exploration.steps:,}'),
            ('first hypothesis', '' if saved.point is not None else
             f'after {first:,} steps' if first else 'not yet'),
            ('known states', f'{len(known)}: {" ".join(map(str, known))}' if known else 'none'),
            ('seen, but beyond the radius or not learnt yet',
             ' '.join(map(str, sorted(summary.seen - {*known}))) if known else ''),
            ('round', exploration.diagnostics()['round']),
            ('changes', f'{exploration.changes_noticed} noticed, '
                        f'{exploration.changes_relearnt} relearnt'),
            ('RESETs that missed home', exploration.homing.misses),
            ('moved by others', inputs[Input.RELOCATED]),
            ('place lost (pause, restart, fault)', inputs[Input.INTERRUPTED])):
        if value != '':
            yield f'- {name}: {value}'
    yield ''


def _policies(saved: Saved, summary: ReplaySummary) -> Iterator[str]:
    hypothesis = summary.exploration.hypothesis
    if hypothesis is None:
        return
    problem = saved.identity
    limit = (1 + problem['epsilon']) * problem['radius']
    yield from (
        '## Known states', '',
        'Expected steps of each policy if the transitions counted since the last change noticed '
        f'were the truth; the limit is {limit:g}. The last column is how often the least tried '
        'of its actions was tried.', '',
        '| state | reached | expected steps | | tried |', '|---|---|---|---|---|')
    for policy in hypothesis.policies:
        steps, tried = summary.steps_to(policy), summary.least_tried(policy)
        if policy.target == summary.exploration.home:
            yield f'| {policy.target} (home) | {summary.reached(policy.target):,} | 0 | | |'
            continue
        note = 'too little tried' if tried < _ENOUGH else 'over the limit' if steps > limit else ''
        value = f'{steps:.2f}' if math.isfinite(steps) else 'never seen to arrive'
        yield (f'| {policy.target} | {summary.reached(policy.target):,} | {value} | {note} | '
               f'{tried:,} |')
    yield ''


def _actions(saved: Saved, summary: ReplaySummary) -> Iterator[str]:
    names = [*enumerate(saved.identity['actions']), (RESET, 'RESET')]
    total = sum(summary.actions.values())
    yield from ('## Actions', '', '| action | times | share |', '|---|---|---|')
    for action, name in names:
        count = summary.actions[action]
        yield f'| {name} | {count:,} | {count / total if total else 0:.1%} |'
    yield ''


def _events(summary: ReplaySummary) -> Iterator[str]:
    yield from ('## What happened', '')
    if len(summary.events) > _EVENTS:
        yield from (f'The last {_EVENTS} of {len(summary.events)} decisions.', '')
    yield from (f'- step {step:,}: {sentence}' for step, sentence in summary.events[-_EVENTS:])
    yield ''


def _parameters(saved: Saved) -> Iterator[str]:
    options = {option.name: option.default for option in OPTIONS}
    yield from ('## Parameters', '', 'Parts and constants that are not listed are as the preset '
                'has them.', '', '| parameter | value |', '|---|---|')
    for name, value in saved.identity.items():
        if name in options and value == options[name]:
            continue
        yield f'| {name} | {", ".join(value) if isinstance(value, list) else repr(value)} |'
    yield ''


def draw(summary: ReplaySummary, path: Path) -> bool:
    """Draw the known states over the steps; return whether matplotlib is installed."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        return False
    figure = Figure(figsize=(7, 3), layout='tight')
    axes = figure.add_subplot(xlabel='steps', ylabel='known states')
    steps, counts = zip(*summary.known, (summary.exploration.steps, summary.known[-1][1]))
    axes.step(steps, counts, where='post')
    axes.set_ylim(bottom=0)
    figure.savefig(path)
    return True


def write(folder: Path) -> list[Path]:
    """
    Write the report of each log in the folder and return the paths of the reports.

    :raises Refused: if there is no log, or if one is damaged, after the others were reported.
    """
    logs = sorted(folder.glob('*.log.sqlite'))
    if not logs:
        raise Refused(f'{folder} has no *.log.sqlite, expected the checkpoint_dir of an explorer '
                      'with transition_log: true')
    written, refusals = [], []
    for log in logs:
        try:
            written.append(_write(folder, log))
        except Refused as refusal:
            refusals.append(str(refusal))
    if refusals:
        raise Refused('\n'.join([*refusals, *(f'written: {path}' for path in written)]))
    return written


def _write(folder: Path, log: Path) -> Path:
    name = log.name.removesuffix('.log.sqlite')
    end = _last_written(log)    # before SQLite writes to a log that a crash has left
    span = _span(folder, end)
    saved = Saved(log)
    os.utime(log, (end, end))
    summary = replay(saved)
    if not summary.inputs:
        raise Refused(f'{log} has no step, expected a trial that has begun')
    figure = folder / f'report_{name}.svg'
    path = folder / f'report_{name}.md'
    path.write_text(report(
        saved, summary, span, figure.name if draw(summary, figure) else ''), encoding='utf-8')
    return path


def _last_written(log: Path) -> float:
    """Return the time when the last step was written, in s since 1970."""
    parts = [part for part in (Path(f'{log}{companion}') for companion in COMPANIONS)
             if part.exists() and part.stat().st_size]
    return max(part.stat().st_mtime for part in parts)


def _span(folder: Path, last: float) -> str:
    """Return in words the time from the first launch to the last step that was written."""
    end = datetime.fromtimestamp(last)
    starts = folder / STARTS
    if not starts.exists():
        return f'until {end:%Y-%m-%d %H:%M:%S}'
    first, *others = starts.read_text(encoding='utf-8').splitlines() or ['?']
    again = f', launched {len(others) + 1} times' if others else ''
    return f'{first} to {end:%Y-%m-%d %H:%M:%S}{again}'


def main(arguments: Sequence[str] | None = None,
         program: str = 'python3 -m mnm_ros.trial.report') -> int:
    """Write the reports and print their paths."""
    parser = argparse.ArgumentParser(
        prog=program, description=(__doc__ or '').partition('\n\n')[2])
    parser.add_argument('folder', type=Path, metavar='TRIAL_DIR', help='the folder of the trial')
    try:
        for path in write(parser.parse_args(arguments).folder.expanduser()):
            print(path)
    except Refused as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == '__main__':
    sys.exit(main())
