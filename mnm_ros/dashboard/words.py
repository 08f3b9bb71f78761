# SPDX-License-Identifier: Apache-2.0

"""What the page says: sentences and figures from what has been heard."""

from __future__ import annotations

from html import escape
from typing import NamedTuple

from mnm_ros.core.model.problem import RESET
from mnm_ros.core.progress.activity import Evidence
from mnm_ros.view.heard import Heard
from mnm_ros.view.scene import kinds

_AIMS = {'first hypothesis': 'to the first hypothesis',
         'check': 'until all has been checked once more',
         'relearning': 'until the change is relearnt'}
_KINDS = {'policy': 'policy to', 'certificate': 'reach of', 'detector': 'watch on the policy to',
          'proof': 'proof of the policy to', 'transition': 'transitions of',
          'rediscovery': 'rediscovery of'}
_MEANING = {
    'known': 'known: its policy keeps within the limit',
    'candidate': 'candidate: met, and being examined',
    'lost': 'lost: its policy was deleted after a change',
    'met': 'met, but not known: it lies beyond the radius, or has not been examined yet',
    'unmet': 'not met yet'}


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


class Row(NamedTuple):
    """A test: what it is about, how much of its threshold is there, and the two figures."""

    name: str
    share: float
    figures: str


def tiles(heard: Heard) -> list[tuple[str, str, str]]:
    """Return the figures to be seen first, each as name, value and a remark."""
    noticed = heard.count('changes_noticed')
    true = heard.true_setting
    exploration = heard.exploration_steps
    found = [
        ('known', str(len(heard.known)), 'states with a policy'),
        ('candidates', str(len(heard.activity.candidates) or heard.count('candidates') or 0),
         'under examination'),
        ('steps', whole(heard.steps), f'{f"taken, {heard.made}; " if heard.made else ""}'
         f'{heard.number("steps_per_second") or 0.0:,.0f} per second'),
        ('changes', '\u2013' if noticed is None else str(noticed),
         'noticed' if true is None else f'noticed; true setting {true}')]
    if exploration is not None:
        found.append(('exploration', whole(exploration), 'steps without good policies'))
    return found


def presence(heard: Heard, now: float, where: str) -> str:
    """
    Return a sentence if there is no explorer, or a robot owes an answer; empty else.

    :param where: namespace and domain, for people.
    """
    if heard.heartbeat is None:
        return f'No explorer has been heard yet in {where}. The page goes on by itself.'
    silence = heard.silent(now)
    if silence is None:
        return heard.late and f'Robot{" " if heard.robots else ": "}{heard.late}.'
    return (f'The explorer has been silent for {duration(silence)}: what is shown is the last '
            'that was heard. The page goes on by itself.')


def doing(heard: Heard) -> str:
    """Return what is being done now, as a sentence."""
    sentence = heard.activity.sentence or heard.status
    return sentence[:1].upper() + sentence[1:] if sentence else 'Nothing has been heard yet.'


def status(heard: Heard) -> str:
    """Return the sentence of ``status``, if it says more than what is being done."""
    return '' if heard.activity.sentence in ('', heard.status) else heard.status


def bar(heard: Heard) -> Bar | None:
    """Return how far it is; None if nobody can tell."""
    progress = heard.activity.progress
    if progress is None or progress.expected <= 0:
        return None
    aim = _AIMS.get(progress.aim, f'to: {progress.aim}')
    steps, seconds = heard.steps_left(), heard.seconds_left()
    share = min(1.0, max(0.0, progress.done / progress.expected))
    detail = (f'step {whole(progress.done)} of about {whole(progress.expected)}, '
              f'usually {whole(progress.low)} to {whole(progress.high)}')
    if progress.done >= progress.expected:
        return Bar(share, f'longer than predicted {aim}', detail)
    left = '\u2013' if steps is None else (
        f'about {whole(steps)} steps' if seconds is None else f'about {duration(seconds)}')
    return Bar(share, f'{left} {aim}', detail)


def evidence(heard: Heard, most: int = 5) -> list[Row]:
    """Return the tests that are closest to a decision."""
    return [Row(_test(heard, test), min(1.0, max(0.0, test.share)),
                f'{_figure(test.evidence)} of {_figure(test.threshold)}')
            for test in heard.activity.tests[:most]]


def evidence_table(heard: Heard) -> str:
    """Return the tests that are closest to a decision as HTML."""
    return ''.join(
        f'<div class="test"><div class="line"><span>{escape(row.name)}</span>'
        f'<span>{row.figures}</span></div><div class="track"><div class="bar" '
        f'style="width:{row.share:.0%}"></div></div></div>' for row in evidence(heard))


def robots_table(heard: Heard) -> str:
    """Return how each of several robots is, as HTML; empty for one without a name."""
    rows = ''.join(
        f'<tr class="{robot.level}"><td>{escape(robot.name)}</td>'
        f'<td>{"" if robot.steps is None else whole(robot.steps)}</td>'
        f'<td>{"" if robot.place is None else escape(heard.description.label(robot.place))}</td>'
        f'<td>{escape(robot.status)}</td></tr>' for robot in heard.robots)
    return ('<table><tr><th>robot</th><th>steps made</th><th>state</th>'
            f'<th>what it is doing</th></tr>{rows}</table>') if rows else ''


def _test(heard: Heard, test: Evidence) -> str:
    what = _KINDS.get(test.kind, test.kind)
    state = '' if test.state is None else f' {heard.description.label(test.state)}'
    action = '' if test.action is None else f', {heard.description.action_name(test.action)}'
    return f'{what}{state}{action}' if state else what.removesuffix(' of').removesuffix(' to')


def about(heard: Heard, state: int) -> list[str]:
    """Return what is known of a state, a sentence for each thing."""
    kind = kinds(heard).get(state, 'unmet')
    lines = [_MEANING[kind]]
    if state == heard.home:
        lines[0] = f'home; {lines[0]}'
    if kind == 'known':
        steps = heard.activity.expected_steps.get(state)
        limit = heard.activity.limit
        lines.append('expected steps of its policy from home: '
                     f'{"not known yet" if steps is None else f"{steps:.2f}"}'
                     + (f', limit {limit:g}' if limit else ''))
    said, actions = heard.description, heard.counts.get(state, {})
    for action in sorted(action for action in actions if action != RESET):
        following = actions[action]
        tried = sum(following.values())
        often = sorted(following.items(), key=lambda item: -item[1])[:3]
        lines.append(f'{said.action_name(action)}, {whole(tried)} times: ' + ', '.join(
            f'to {said.label(after)} in {count / tried:.0%}' for after, count in often))
    return lines


def whole(value: int) -> str:
    """Return a count with separated thousands."""
    return f'{value:,}'


def duration(seconds: float) -> str:
    """Return a time span in words, of two units at most."""
    if seconds < 90:
        return f'{seconds:.0f} s'
    minutes = round(seconds / 60)
    if minutes < 90:
        return f'{minutes} min'
    hours, rest = divmod(minutes, 60)
    if hours < 48:
        return f'{hours} h {rest} min' if rest else f'{hours} h'
    return f'{round(hours / 24)} days'


def _figure(value: float) -> str:
    return f'{value:,.0f}' if abs(value) >= 100 else f'{value:.3g}'
