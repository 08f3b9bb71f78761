# Copyright 2026 mnm_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0
# Unless required by applicable law or agreed to in writing, software distributed under the License
# is distributed on an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express
# or implied. See the License for the specific language governing permissions and limitations under
# the License.

from __future__ import annotations

from dataclasses import replace
import re

from mnm_ros.console.render import changed, clip, duration, Frame, progress, screen
from mnm_ros.console.snapshot import Goal, phase_of, Snapshot
from mnm_ros.core.exploration import Phase
from mnm_ros.core.policy import Hypothesis, Policy
import pytest

FRAME = Frame('two rooms', 2, 'Ctrl-C ends both nodes')
GRID = ((('S', 0), ('.', 1)), (('.', 2), ('#', 3)))


def hypothesis(*known: int) -> Hypothesis:
    return Hypothesis(2, 1, 9, tuple(
        Policy(state, 9, known, ((0,) * len(known),)) for state in known))


FULL = Snapshot(
    phase='checking/evaluation', status='round 2: state 17 added', hypothesis=hypothesis(0, 1),
    known=(0, 1), reports=3, true_setting=1, exploration_steps=4500,
    report={'round': '2', 'candidates': '3', 'steps': '123456', 'steps_per_second': '4321.4',
            'changes_noticed': '1', 'changes_relearnt': '0'})


def test_screen_shows_everything() -> None:
    text = '\n'.join(screen(FULL, FRAME, 3723))
    for shown in (
            'mnm_ros: two rooms', '1:02:03', 'checking/evaluation', 'round 2: state 17 added',
            '2, hypothesis 2.1', '2: 0 1', '123,456 (4,321 per second)',
            '1 noticed, 0 relearnt', '4,500 steps', '1 (of 0..1)', 'Ctrl-C ends both nodes'):
        assert shown in text
    assert re.search(r'candidates +3\n', text)
    assert '\x1b' not in text


def test_screen_before_the_first_message() -> None:
    text = '\n'.join(screen(Snapshot(), FRAME, 0))
    assert 'starting' in text
    assert 'no hypothesis yet' in text


@pytest.mark.parametrize('width, height', [(80, 24), (40, 24), (80, 6), (20, 3)])
def test_screen_fits_the_terminal(width: int, height: int) -> None:
    many = replace(FULL, known=tuple(range(500)), status='long\n ' * 100)
    lines = screen(many, replace(FRAME, width=width, height=height), 1, GRID)
    assert len(lines) <= height
    assert all(len(line) < width for line in lines)


def test_colour_adds_nothing_but_styles() -> None:
    plain = screen(FULL, FRAME, 1, GRID)
    coloured = screen(FULL, replace(FRAME, color=True), 1, GRID)
    assert coloured != plain
    assert [re.sub(r'\x1b\[\d+m', '', line) for line in coloured] == plain


def test_map_tells_start_known_wall_and_the_rest_apart() -> None:
    drawing = [line.split() for line in screen(FULL, FRAME, 1, GRID)]
    assert ['S', 'o'] in drawing
    assert ['.', '#'] in drawing


def test_map_is_left_out_where_it_does_not_fit() -> None:
    assert len(screen(FULL, replace(FRAME, height=14), 1, GRID)) == len(screen(FULL, FRAME, 1))


def test_changed_tells_what_is_new_once() -> None:
    assert changed(Snapshot(), FULL, 2) == [
        'phase checking/evaluation', 'round 2', 'known 2: 0 1',
        'status: round 2: state 17 added', 'true setting 1 (of 0..1)']
    assert changed(FULL, FULL, 2) == []


def test_changed_ignores_the_detail_of_the_phase_and_the_counters() -> None:
    later = replace(
        FULL, phase='checking/rediscovery', report={**FULL.report, 'steps': '123457'})
    assert changed(FULL, later, 2) == []


def test_phases_are_told_by_their_names() -> None:
    assert phase_of('fault') is Phase.FAULT and phase_of('dreaming/idly') == 'dreaming/idly'
    for text, group in (('paused', 'paused'), ('dreaming/idly', 'dreaming')):
        snapshot = Snapshot(phase=phase_of(text))
        assert (snapshot.phase_name, snapshot.phase_group) == (text, group)
        assert changed(Snapshot(), snapshot, 2) == [f'phase {text}']


def test_progress_is_one_line() -> None:
    assert progress(FULL) == (
        'checking/evaluation, 2 known, 3 candidates, 123,456 steps (4,321 per second), '
        '4,500 exploration steps')
    assert progress(Snapshot()).startswith('starting, 0 known, - candidates')


def test_clip_makes_one_line_of_limited_width() -> None:
    assert clip('a\nb  c', 80) == 'a b c'
    assert clip('abcdefgh', 6) == 'abc...'
    assert len(clip('abcdefgh', 2)) <= 2


def test_duration() -> None:
    assert duration(59.9) == '0:00:59'
    assert duration(36000) == '10:00:00'


def test_numbers_of_the_report_may_be_missing_or_garbled() -> None:
    snapshot = Snapshot(report={'steps': 'many', 'round': '2'})
    assert snapshot.count('steps') is None
    assert snapshot.count('candidates') is None
    assert snapshot.count('round') == 2


def test_goal_awaits_a_hypothesis_and_then_changes() -> None:
    assert Goal().awaited(Snapshot()) == 'the first message of the explorer'
    assert Goal().awaited(Snapshot(phase='building/discovery')) == 'the first hypothesis'
    assert not Goal().reached(Snapshot(phase='building/discovery'))
    assert Goal().reached(FULL)
    assert not Goal(1).reached(FULL)
    assert Goal(1).awaited(FULL) == 'a change to be noticed and relearnt (0 of 1 so far)'
    assert Goal(1).reached(replace(FULL, report={'changes_relearnt': '1'}))
