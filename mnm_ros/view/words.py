# SPDX-License-Identifier: Apache-2.0

"""
All that is said of an explorer in words and figures, without a terminal, a browser or a clock.

What lines and the live view say stands first, then what the page says, then JSON for programs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict
import json
from math import inf
from typing import NamedTuple

from mnm_ros.core.knowledge.knowledge import StateKind
from mnm_ros.core.model.problem import RESET
from mnm_ros.core.progress.activity import Evidence
from mnm_ros.core.progress.trust import Trust
from mnm_ros.robot_description import RobotDescription, UNDESCRIBED
from mnm_ros.view.scene import KINDS, kinds
from mnm_ros.view.telemetry import RobotTelemetry, Telemetry

LABEL = 16    # columns of what a figure is called
LINE = 160     # characters of a line that may be cut
_MOMENTS = 10.0   # s, below which a prediction has no figure
_WAITING = 'waiting for the robot'
_AIMS = {'first hypothesis': 'to the first hypothesis',
         'check': 'until all has been checked once more',
         'relearning': 'until the change is relearnt'}


def version(heard: Telemetry) -> str:
    """Return the round and revision of the hypothesis as ``2.1``, or ``-``."""
    hypothesis = heard.hypothesis
    return '-' if hypothesis is None else '{}.{}'.format(*hypothesis.version)


def steps(heard: Telemetry) -> str:
    """Return the steps of the exploration, which are those taken if several robots make them."""
    return whole(heard.count('steps')) + (' taken' if heard.robots else '')


def known(heard: Telemetry, width: float = inf) -> str:
    """Return how many states are known and which, as many as fit; before, what can be used."""
    return numbered(heard.known, width, heard.description) if heard.known else (
        _certified(heard) or '-')


def numbered(states: Sequence[int], width: float = inf,
             description: RobotDescription = UNDESCRIBED) -> str:
    """Return how many states there are, and as many of them as fit, by name if they have any."""
    head = f'{len(states):,}: '
    between = ', ' if description.names.keys() & {*states} else ' '
    shown: list[str] = []
    for name in map(description.name, states):
        left = len(states) - len(shown) - 1
        rest = f' and {left:,} more' if left else ''
        if len(head) + len(between.join([*shown, name])) + len(rest) > width:
            break
        shown.append(name)
    left = len(states) - len(shown)
    if not shown:
        return f'{len(states):,}'
    return head + between.join(shown) + (f' and {left:,} more' if left else '')


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


def clock(seconds: float) -> str:
    """Return a time span as ``h:mm:ss``."""
    minutes, rest = divmod(int(seconds), 60)
    return f'{minutes // 60}:{minutes % 60:02}:{rest:02}'


def rate(heard: Telemetry) -> str:
    """Return the steps per second in brackets, or nothing."""
    found = _per_second(heard)
    return found and f' ({found})'


def _per_second(heard: Telemetry) -> str:
    """Return the steps per second: where a step takes long, the mean, as one second has none."""
    found = heard.number('steps_per_second')
    if found is None:
        return ''
    if heard.exploring and heard.pace is not None and heard.pace < 9.5:
        return f'{heard.pace:.2g} per second'
    return f'{found:,.0f} per second'


def clip(text: str, width: int) -> str:
    """Return one line of at most ``width`` characters, which ends with dots if it is cut."""
    line = ' '.join(text.split())
    if len(line) <= width:
        return line
    return (line[:max(0, width - 3)] + '...')[:max(0, width)]


def robots(heard: Telemetry, most: int) -> list[str]:
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


def _place(heard: Telemetry, robot: RobotTelemetry) -> str:
    place = robot.place
    return 'nobody knows where' if place is None else f'in {heard.description.name(place)}'


def changed(before: Telemetry, after: Telemetry, settings: int) -> list[str]:
    """Return a line for each change of the phase, round, states, status and setting."""
    lines = []
    if after.phase_group != before.phase_group:
        lines.append(_WAITING if after.phase == 'waiting_for_robot' else f'phase {after.phase}')
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


def _trusted(heard: Telemetry, *wanted: Trust) -> str:
    """Return how many policies there are of each trust wanted, in words; or nothing."""
    counts = Counter(told.trust for told in heard.trust.values())
    return ', '.join(f'{counts[trust]} {trust.value}' for trust in wanted if counts[trust])


def _certified(heard: Telemetry) -> str:
    """Return how many states can be gone to although none is known yet; or nothing."""
    return '' if heard.known else _trusted(heard, Trust.CERTIFIED)


def given(heard: Telemetry) -> str:
    """Return what the proofs of the known states rest on besides what was seen; or nothing."""
    return ', given the map' if any(told.declared for told in heard.trust.values()
                                    if told.trust is Trust.PROVEN) else ''


def progress(heard: Telemetry) -> str:
    """Return one line that says how far the exploration is."""
    usable = f', {found}' if (found := _certified(heard)) else ''
    phase = _WAITING if heard.phase == 'waiting_for_robot' else heard.phase or 'starting'
    line = (f'{phase}, {len(heard.known)} known{usable}{given(heard)}, '
            f'{whole(heard.candidates)} candidate{"s" * (heard.candidates != 1)}, '
            f'{whole(heard.count("steps"))} steps{" taken" if heard.robots else ""}{rate(heard)}')
    if heard.made:
        line += f', {heard.made}'
    if worked := _worked(heard):
        line += f', and {worked} at work'
    if heard.late:
        line += f', {heard.late}'
    if heard.exploration_steps is not None:    # only cmp_sim counts them
        line += f', {whole(heard.exploration_steps)} exploration steps'
    return f'{line}, {left}' if (left := to_go(heard)) else line


def _worked(heard: Telemetry) -> str:
    """Return how many executions that others have ordered count beside the steps, or nothing."""
    return whole(heard.activity.work) if heard.activity.work else ''


def by_source(sources: Mapping[str, int]) -> str:
    """Return how many transitions each source has reported, if there are several; or nothing."""
    return ', '.join(f'{count:,} by {source}' for source, count in sorted(sources.items())
                     ) if len(sources) > 1 else ''


def to_go(heard: Telemetry) -> str:
    """Return how much of the present aim is done, and how long it still takes, or nothing."""
    found = heard.activity.progress
    if found is None:
        return ''
    share = min(1.0, found.done / found.expected) if found.expected > 0 else 1.0
    seconds = heard.seconds_left()
    left = '-' if seconds is None else duration(seconds) if seconds >= _MOMENTS else 'a little'
    return f'{share:.0%} of {found.aim}, {left} to go{_in_all(heard)}'


def _in_all(heard: Telemetry) -> str:
    """Return how long the first hypothesis takes, and a smaller radius, where that is hours."""
    found, pace = heard.activity.progress, heard.pace
    if found is None or not pace or heard.seconds_left() is None or (
            found.aim != 'first hypothesis' or found.expected < 3600 * pace):
        return ''
    smaller = found.smaller_radius and (
        f'; L = {found.smaller_radius:g} would take about '
        f'{duration(found.smaller_expected / pace)}')
    return f', {duration(found.expected / pace)} in all at this pace{smaller or ""}'


def of_threshold(test: Evidence) -> str:
    """Return how much evidence there is, and how much is needed."""
    return ' of '.join(f'{value:,.0f}' if abs(value) >= 100 else f'{value:.3g}'
                       for value in (test.evidence, test.threshold))


class Bar(NamedTuple):
    """
    A progress bar.

    :ivar share: between 0 and 1.
    :ivar text: what is left.
    :ivar detail: the prediction that it follows from.
    """

    share: float
    text: str
    detail: str


PHASES = {'waiting_for_robot': _WAITING, 'building/discovery': 'learning',
          'building/evaluation': 'learning', 'checking/rediscovery': 'checking',
          'checking/evaluation': 'checking'}
"""What an operator calls a phase; the picture of the phases has the terms."""

_TILES = {'known': ('place known', 'places known'),
          'candidates': ('being examined', 'being examined'),
          'steps': ('step', 'steps'), 'changes': ('change', 'changes'),
          'exploration': ('exploration step', 'exploration steps')}


def tile_label(name: str, value: str) -> str:
    """Return what is written below a figure of ``tiles``."""
    return _TILES[name][value != '1']


def tiles(heard: Telemetry) -> list[tuple[str, str, str]]:
    """Return the figures to be seen first, each as name, value and a remark."""
    noticed = heard.count('changes_noticed')
    true = heard.true_setting
    exploration = heard.exploration_steps
    found = [
        ('known', str(len(heard.known)),
         _certified(heard) or _trusted(heard, Trust.DOUBTED)
         or f'states with a policy{given(heard)}'),
        ('candidates', str(heard.candidates or 0),
         _trusted(heard, Trust.CERTIFIED, Trust.ASSUMED) or 'places that are not known yet'),
        ('steps', whole(heard.steps), f'{f"taken, {heard.made}; " if heard.made else ""}'
         f'{f"and {worked} at work; " if (worked := _worked(heard)) else ""}'
         f'{f"{shares}; " if (shares := by_source(heard.activity.sources)) else ""}'
         f'{_per_second(heard) or ("" if heard.heartbeat is None else "0 per second")}'),
        ('changes', '\u2013' if noticed is None else str(noticed),
         'noticed' if true is None else f'noticed; true setting {true}')]
    if exploration is not None:
        found.append(('exploration', whole(exploration), 'steps without good policies'))
    return found


def presence(heard: Telemetry, now: float, where: str) -> str:
    """
    Return a sentence if there is no explorer, or a robot owes an answer; empty else.

    :param where: namespace and domain, for people.
    """
    if heard.heartbeat is None:
        return f'No explorer has been heard yet in {where}. The page goes on by itself.'
    silence = heard.silent(now)
    if silence is None:
        return heard.late and f'Robot{" " if heard.robots else ": "}{heard.late}.'
    what = (f'The explorer has been gone for {duration(silence)}; it has ended, or cannot be '
            'reached' if heard.gone else f'The explorer has been silent for {duration(silence)}')
    return f'{what}: what is shown is the last that was heard. The page goes on by itself.'


def bar(heard: Telemetry) -> Bar | None:
    """Return how far it is; None if that is not known."""
    progress = heard.activity.progress
    if progress is None or progress.expected <= 0:
        return None
    aim = _AIMS.get(progress.aim, f'to: {progress.aim}')
    steps, seconds = heard.steps_left(), heard.seconds_left()
    share = min(1.0, max(0.0, progress.done / progress.expected))
    detail = (f'step {whole(progress.done)} of about {whole(progress.expected)}, '
              f'usually {whole(progress.low)} to {whole(progress.high)}{_in_all(heard)}')
    if progress.done >= progress.expected:
        return Bar(share, f'longer than predicted {aim}', detail)
    left = 'hard to say how long' if steps is None else (
        f'about {whole(steps)} steps' if seconds is None else _about(seconds))
    return Bar(share, f'{left} {aim}', detail)


def about(heard: Telemetry, state: int) -> list[str]:
    """Return what is known of a state, a sentence for each thing."""
    kind = kinds(heard).get(state, 'unmet')
    lines = [KINDS[kind].meaning]
    told = heard.trust.get(state)
    if state in heard.known or told is not None and state != heard.home:
        steps = heard.knowledge.steps_to(state)
        limit = heard.activity.limit
        lines.append('expected steps of its policy from home: '
                     f'{"not known yet" if steps is None else f"{steps:.2f}"}'
                     f'{told and in_time(told.expected_seconds) or ""}'
                     + (f', limit {limit:g}' if limit else ''))
    if told is not None and (told.trust is not Trust.PROVEN or told.declared):
        lines.append(f'its policy is {told.in_words}: {told.why}' + (
            f'; {told.declared} of its actions are as declared' if told.declared else ''))
    said = heard.description
    for action in sorted({*heard.counts.get(state, ())} - {RESET}):
        led = sorted(heard.knowledge.after(state, action), key=lambda each: -each.times)
        lines.append(
            f'{said.action_name(action, state)}, {whole(sum(each.times for each in led))} times: '
            + ', '.join(f'{each.probability:.0%} to {said.name(each.following)}'
                        for each in led[:3]))
    return lines


def in_time(seconds: float | None) -> str:
    """Return about how long steps take, after a comma; nothing where it is not worth a word."""
    return '' if seconds is None or seconds < 1 else f', about {duration(seconds)}'


def _about(seconds: float) -> str:
    """Return a predicted time; a prediction is not exact to a few seconds."""
    return f'about {duration(seconds)}' if seconds >= _MOMENTS else 'a few moments'


def duration(seconds: float) -> str:
    """Return a time span in words, of two units at most."""
    if seconds < 1:
        return 'less than 1 s'
    if seconds < 90:
        return f'{seconds:.0f} s'
    minutes = round(seconds / 60)
    if minutes < 90:
        return f'{minutes} min'
    hours, rest = divmod(minutes, 60)
    if hours < 10:
        return f'{hours} h {rest} min' if rest else f'{hours} h'
    if minutes < 48 * 60:
        return f'{round(minutes / 60)} h'
    return f'{round(hours / 24)} days'


def as_json(heard: Telemetry) -> str:
    """Return it as one JSON object without line breaks; null is what is not known."""
    now, activity = heard, heard.activity
    return json.dumps({
        'phase': now.phase or None, 'status': now.status or None, 'round': now.count('round'),
        'hypothesis': now.hypothesis.version if now.hypothesis is not None else None,
        'home': now.home, 'current': None if now.robots else activity.current, 'known': now.known,
        'candidates': now.knowledge.of(StateKind.CANDIDATE),
        'beyond': now.knowledge.of(StateKind.BEYOND),
        'lost': now.knowledge.of(StateKind.LOST),
        'steps': now.count('steps'), 'work': activity.work, 'sources': dict(activity.sources),
        'steps_per_second': now.number('steps_per_second'),
        'changes_noticed': now.count('changes_noticed'),
        'changes_relearnt': now.count('changes_relearnt'),
        'true_setting': now.true_setting, 'exploration_steps': now.exploration_steps,
        'doing': activity.doing, 'target': activity.target, 'action': activity.action,
        'sentence': activity.sentence,
        'tests': [asdict(test) for test in activity.tests],
        'progress': asdict(activity.progress) if activity.progress is not None else None,
        'seconds_left': now.seconds_left(), 'limit': activity.limit or None,
        'robots': [asdict(robot) for robot in now.robots],
        'expected_steps': {str(state): steps for state, steps in activity.expected_steps.items()},
        'trust': {str(state): told.trust.value for state, told in now.trust.items()},
    }, separators=(',', ':'))
