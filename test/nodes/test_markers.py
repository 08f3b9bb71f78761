# Copyright 2026 mnm_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0
# Unless required by applicable law or agreed to in writing, software distributed under the License
# is distributed on an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express
# or implied. See the License for the specific language governing permissions and limitations under
# the License.

"""Where the states are drawn, with and without positions of the robot side."""

from __future__ import annotations

import math
from types import SimpleNamespace

from mnm_ros.core.policy import Hypothesis, Policy
from mnm_ros.core.problem import RESET
from mnm_ros.layout import STRIDE
from mnm_ros.nodes.exploring.markers import Markers, spacing
from mnm_ros.robot_description import RobotDescription
import pytest
from visualization_msgs.msg import Marker, MarkerArray

HYPOTHESIS = Hypothesis(1, 1, 8, tuple(
    Policy(target, 8, (3, 4), ((0, 1),)) for target in (3, 4)))
Counts = dict[tuple[int, int], dict[int, int]]
PLACED = RobotDescription(
    ('a', 'b'), 3, 'map', {3: 'dock'}, {3: (10.0, 20.0), 4: (10.0, 20.5)},
    ((9.0, 9.0, 9.0, 11.0),))


def exploration(counts: Counts | None = None, **attributes: object) -> SimpleNamespace:
    counts = {(3, 0): {4: 9}} if counts is None else counts
    return SimpleNamespace(**{
        'hypothesis': HYPOTHESIS, 'last_state': 4, 'candidates': (), 'home': 3,
        'successors': lambda state: [
            (action, after, count) for (before, action), following in counts.items()
            for after, count in following.items() if before == state], **attributes})


def draw(description: RobotDescription | None, **attributes: object) -> MarkerArray:
    return Markers().draw(exploration(**attributes), description)


def named(picture: MarkerArray, name: str) -> list[Marker]:
    return [marker for marker in picture.markers if marker.ns == name]


def points(picture: MarkerArray, name: str) -> list[tuple[float, float]]:
    return [(point.x, point.y) for marker in named(picture, name) for point in marker.points]


def frames(picture: MarkerArray) -> set[str]:
    return {marker.header.frame_id for marker in picture.markers}


@pytest.mark.parametrize('description', [None, RobotDescription(('a', 'b'), 3, 'map')])
def test_states_without_a_place_never_lie_over_a_map(
        description: RobotDescription | None) -> None:
    picture = draw(description)
    assert frames(picture) == {'mnm_states'}
    assert points(picture, 'known') == [(0, 0), (1, 0)]
    assert [label.text for label in named(picture, 'labels')] == ['3', '4']


def test_a_state_is_laid_out_by_what_leads_there_though_that_is_not_shown() -> None:
    """While the first hypothesis is built, only candidates and the present state are shown."""
    chain = {(state, 0): {state + 1: 9} for state in range(6)}
    picture = draw(None, hypothesis=None, home=0, candidates=(5, 6), last_state=0, counts=chain)
    (home,), candidates = points(picture, 'current'), points(picture, 'candidates')
    assert 0.5 < math.dist(*candidates) < 1.5
    assert all(math.dist(home, candidate) > 3 for candidate in candidates)


def test_shown_states_do_not_jump_when_another_one_is_met() -> None:
    markers = Markers()
    chain: Counts = {}
    before: list[tuple[float, float]] = []
    for last in range(1, 30):
        chain[last - 1, 0] = {last: 1}
        now = points(markers.draw(exploration(
            chain, home=0, hypothesis=None, candidates=range(last + 1))), 'candidates')
        assert len(now) == last + 1
        assert all(math.dist(*pair) <= STRIDE + 1e-9 for pair in zip(before, now))
        before = now


def test_where_reset_is_played_the_policy_leads_home() -> None:
    hypothesis = Hypothesis(1, 1, 8, tuple(
        Policy(target, 8, (3, 4, 5), ((0, RESET, 1),)) for target in (3, 4, 5)))
    picture = draw(None, hypothesis=hypothesis, counts={(3, 0): {4: 9, 5: 1}})
    home, other, _ = points(picture, 'known')
    assert points(picture, 'policy') == [home, other, other, home]


def test_states_with_a_place_are_drawn_there() -> None:
    picture = draw(PLACED)
    assert frames(picture) == {'map'}
    assert points(picture, 'known') == [(10, 20), (10, 20.5)]
    assert points(picture, 'current') == [(10, 20.5)]
    assert points(picture, 'policy') == [(10, 20), (10, 20.5)]
    assert points(picture, 'walls') == [(9, 9), (9, 11)]
    assert named(picture, 'known')[0].scale.x == 0.4    # 0.8 of the cells, which are 0.5 m wide
    labels = named(picture, 'labels')
    assert [label.text for label in labels] == ['dock (3)', '4']
    assert (labels[0].pose.position.x, labels[0].pose.position.y) == (10, 20)


def test_a_state_without_a_place_among_others_is_not_drawn() -> None:
    picture = draw(PLACED, candidates=(77,), last_state=77)
    assert not points(picture, 'candidates') and not points(picture, 'current')


def test_positions_without_a_frame_have_that_of_the_states() -> None:
    assert frames(draw(RobotDescription(('a',), positions={3: (1, 2)}))) == {'mnm_states'}


@pytest.mark.parametrize('attributes', [
    {}, {'hypothesis': None, 'last_state': None}, {'candidates': (9,), 'counts': {}}])
@pytest.mark.parametrize('description', [None, PLACED])
def test_no_marker_to_be_added_is_empty(
        description: RobotDescription | None, attributes: dict) -> None:
    picture = draw(description, **attributes)
    for marker in picture.markers[1:]:
        if marker.action == Marker.ADD:
            assert marker.points or marker.text
        else:
            assert marker.action == Marker.DELETE and marker.ns


def test_the_picture_follows_what_the_robot_side_says() -> None:
    markers = Markers()
    assert points(markers.draw(exploration(), None), 'known') == [(0, 0), (1, 0)]
    assert points(markers.draw(exploration(), PLACED), 'known') == [(10, 20), (10, 20.5)]
    assert points(markers.draw(exploration(), None), 'known') == [(0, 0), (1, 0)]


@pytest.mark.parametrize('positions, distance', [
    ([], 1), ([(3, 3)], 1), ([(3, 3), (3, 3)], 1), ([(0, 0), (0, 2), (5, 0)], 2),
    ([(x, y) for x in (0, 5) for y in (0, 0.5, 1)], 0.5),
    ([(x, y) for x in (0, 0.5) for y in (0, 5)], 0.5)])
def test_spacing(positions: list, distance: float) -> None:
    assert spacing(positions) == distance
