# SPDX-License-Identifier: Apache-2.0

"""What of the page is HTML or SVG: the state machine with the present phase lit, and tables."""

from __future__ import annotations

from html import escape

from mnm_ros.core.exploration import Phase
from mnm_ros.view.heard import Heard
from mnm_ros.view.words import evidence, whole

_BOXES = {
    Phase.WAITING_FOR_ROBOT: (4, 8, 108, 'waiting for robot'),
    Phase.PAUSED: (4, 52, 108, 'paused'),
    Phase.FAULT: (4, 96, 50, 'fault'),
    Phase.DONE: (62, 96, 50, 'done'),
    Phase.BUILDING_DISCOVERY: (148, 30, 84, 'discovery'),
    Phase.BUILDING_EVALUATION: (148, 84, 84, 'evaluation'),
    Phase.CHECKING_REDISCOVERY: (272, 30, 84, 'rediscovery'),
    Phase.CHECKING_EVALUATION: (272, 84, 84, 'evaluation')}
"""Left, top and width of each phase, and what is written on it."""

_GROUPS = (('building', 140, 100), ('checking', 264, 100))
_HIGH = 28
_ARROWS = (
    'M112 22H136', 'M136 66H116',                     # it begins, and it can always be paused
    'M176 58V82', 'M204 84V60', 'M300 58V82', 'M328 84V60',    # within building and checking
    'M240 50H262', 'M264 92H242')                     # a hypothesis, and a change
_HEAD = {'H': ((-5, -3), (-5, 3)), 'V': ((-3, -5), (3, -5))}


def machine(phase: str) -> str:
    """Return the picture as SVG; ``phase`` is as published, and need not be known here."""
    parts = ['<svg class="machine" viewBox="0 0 368 132" role="img" '
             f'aria-label="phase {escape(phase)}">']
    for name, left, width in _GROUPS:
        lit = ' lit' if phase.partition('/')[0] == name else ''
        parts.append(
            f'<g class="group{lit}"><rect x="{left}" y="4" width="{width}" height="122" rx="8"/>'
            f'<text x="{left + width / 2:g}" y="20">{name}</text></g>')
    parts += [f'<path d="{arrow}{_head(arrow)}"/>' for arrow in _ARROWS]
    for known, (left, top, width, text) in _BOXES.items():
        lit = ' lit' if phase == known.value else ''
        parts.append(
            f'<g class="phase {known.value.partition("/")[0]}{lit}"><rect x="{left}" y="{top}" '
            f'width="{width}" height="{_HIGH}" rx="6"/>'
            f'<text x="{left + width / 2:g}" y="{top + 18}">{text}</text></g>')
    return ''.join([*parts, '</svg>'])


def _head(arrow: str) -> str:
    """Return the head of an arrow, which ends with a way to the side or down."""
    begin, way = arrow[1:-1], ''
    for letter in 'HV':
        if letter in arrow:
            begin, way = arrow[1:].split(letter)
            break
    x, y = map(int, begin.split())
    end_x, end_y = (int(way), y) if letter == 'H' else (x, int(way))
    sign = 1 if end_x > x or end_y > y else -1
    return ''.join(f'M{end_x} {end_y}l{sign * dx} {sign * dy}' for dx, dy in _HEAD[letter])


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
