# SPDX-License-Identifier: Apache-2.0

"""Lines of text from what has been heard, without a terminal or a clock."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf

from mnm_ros.view.heard import Heard, RobotHeard

LABEL = 16    # columns of what a figure is called
LINE = 160     # characters of a line that may be cut


def stamp(heard: Heard) -> str:
    """Return the round and revision of the hypothesis as ``2.1``, or ``-``."""
    hypothesis = heard.hypothesis
    return '-' if hypothesis is None else '{}.{}'.format(*hypothesis.stamp)


def steps(heard: Heard) -> str:
    """Return the steps of the exploration, which are those taken if several robots make them."""
    return whole(heard.count('steps')) + (' taken' if heard.robots else '')


def known(heard: Heard, width: float = inf) -> str:
    """Return how many states are known and which, as many as fit, or ``-``."""
    return numbered(heard.known, width) if heard.known else '-'


def numbered(states: Sequence[int], width: float = inf) -> str:
    """Return how many states there are, and as many of them as fit."""
    head = f'{len(states):,}: '
    shown: list[str] = []
    for state in map(str, states):
        left = len(states) - len(shown) - 1
        rest = f' and {left:,} more' if left else ''
        if len(head) + len(' '.join([*shown, state])) + len(rest) > width:
            break
        shown.append(state)
    left = len(states) - len(shown)
    if not shown:
        return f'{len(states):,}'
    return head + ' '.join(shown) + (f' and {left:,} more' if left else '')


def setting(index: int | None, settings: int) -> str:
    """
    Return the index of the setting in force and the range of the indices, or ``-``.

    :param settings: how many there are; 0 if that is not known.
    """
    if index is None:
        return '-'
    return f'{index} (of 0..{settings - 1})' if settings else str(index)


def whole(value: int | None) -> str:
    """Return a count with separated thousands, or ``-``."""
    return '-' if value is None else f'{value:,}'


def duration(seconds: float) -> str:
    """Return a time span as ``h:mm:ss``."""
    minutes, rest = divmod(int(seconds), 60)
    return f'{minutes // 60}:{minutes % 60:02}:{rest:02}'


def rate(heard: Heard) -> str:
    """Return the steps per second in brackets, or nothing."""
    found = heard.number('steps_per_second')
    return '' if found is None else f' ({found:,.0f} per second)'


def clip(text: str, width: int) -> str:
    """Return one line of at most ``width`` characters, which ends with dots if it is cut."""
    line = ' '.join(text.split())
    if len(line) <= width:
        return line
    return (line[:max(0, width - 3)] + '...')[:max(0, width)]


def robots(heard: Heard, most: int) -> list[str]:
    """
    Return a line for each robot, if there are several, or for as many as fit.

    Those that do nothing come first if there is not room for all.

    :param most: lines.
    """
    found = heard.robots
    if len(found) > most:
        found = tuple(sorted(found, key=lambda robot: robot.level == 'ok'))[:max(0, most - 1)]
    lines = [f'{robot.name}: {whole(robot.steps)} steps, {_place(heard, robot)}, {robot.status}'
             for robot in found]
    left = len(heard.robots) - len(found)
    return [*lines, f'and {left:,} more'] if left and most > 0 else lines


def _place(heard: Heard, robot: RobotHeard) -> str:
    place = robot.place
    return 'nobody knows where' if place is None else f'in {heard.description.label(place)}'


def changed(before: Heard, after: Heard, settings: int) -> list[str]:
    """Return a line for each change of the phase, round, states, status and setting."""
    lines = []
    if after.phase_group != before.phase_group:
        lines.append(f'phase {after.phase}')
    if after.count('round') not in (None, before.count('round')):
        lines.append(f'round {after.count("round")}')
    if after.known != before.known:
        lines.append(f'known {known(after, LINE)}')
    if after.status != before.status:
        lines.append(f'status: {after.status}')
    said = {robot.name: robot.status for robot in before.robots}
    lines += [f'robot {robot.name}: {robot.status}' for robot in after.robots
              if robot.status != said.get(robot.name)]
    if after.late and not before.late:
        lines.append(after.late)
    if after.true_setting != before.true_setting:
        lines.append(f'true setting {setting(after.true_setting, settings)}')
    return lines


def progress(heard: Heard) -> str:
    """Return one line that says how far the exploration is."""
    candidates = heard.count('candidates')
    line = (f'{heard.phase or "starting"}, {len(heard.known)} known, '
            f'{whole(candidates)} candidate{"s" * (candidates != 1)}, '
            f'{whole(heard.count("steps"))} steps'
            f'{" taken" if heard.robots else ""}{rate(heard)}')
    if heard.made:
        line += f', {heard.made}'
    if heard.late:
        line += f', {heard.late}'
    if heard.exploration_steps is not None:    # only cmp_sim counts them
        line += f', {whole(heard.exploration_steps)} exploration steps'
    return f'{line}, {left}' if (left := to_go(heard)) else line


def to_go(heard: Heard) -> str:
    """Return how much of the present aim is done, and how long it still takes, or nothing."""
    found = heard.activity.progress
    if found is None:
        return ''
    share = min(1.0, found.done / found.expected) if found.expected > 0 else 1.0
    seconds = heard.seconds_left()
    return (f'{share:.0%} of {found.aim}, {"-" if seconds is None else duration(seconds)} to go')
