# SPDX-License-Identifier: Apache-2.0

"""Home: where most room is, as asked for, or the nearest place that is free."""

from __future__ import annotations

import math

from flats import DOOR, flat
from mnm_ros.core.errors import InvalidValueError
from mnm_ros.driving.pose import Pose
from mnm_ros.plan.home import home_on
import pytest


def test_without_a_wish_home_is_where_most_room_is_in_the_largest_area() -> None:
    # A wall 0.6 m from the right end: the left room is the largest area by far.
    map_ = flat((5.2, 0, 5.3, 3, 100))
    found = home_on(map_, None, 0.2)
    assert found.pose == pytest.approx((0.5, 0.0, 0.0), abs=0.11)
    assert 'the point with most room (1.38 m' in found.said and '--home X Y' in found.said


def test_home_is_where_it_was_asked_for_if_that_is_free() -> None:
    wish = Pose(0.5, 0.25, 1.0)
    assert home_on(flat(DOOR), wish, 0.2) == (wish, 'home: 0.5, 0.25')


@pytest.mark.parametrize(('wish', 'expected'), [
    ((0.5, 1.6), (0.5, 1.15)),     # outside of the flat
    ((-0.9, 0.0), (-0.65, 0.0)),   # at a wall
    ((1.95, 1.0), (1.775, 1.0))])   # nearly in a wall between two rooms
def test_the_nearest_place_that_is_free_is_home_otherwise(
        wish: tuple[float, float], expected: tuple[float, float]) -> None:
    map_ = flat(DOOR)
    found = home_on(map_, Pose(*wish, 0.5), 0.2)
    assert found.pose[:2] == pytest.approx(expected, abs=0.06) and found.pose.yaw == 0.5
    assert bool(map_.is_free([found.pose[:2]], [found.pose[:2]], 0.2)[0])
    assert f'the nearest place to {wish[0]:g}, {wish[1]:g}' in found.said
    assert f'({math.dist(found.pose[:2], wish):.2f} m away)' in found.said
    # What was found is free as it is written.
    assert home_on(map_, found.pose, 0.2).pose == found.pose


def test_home_is_not_moved_far() -> None:
    """A slip in a coordinate would give the robot a frame that is wrong by as much."""
    with pytest.raises(InvalidValueError, match=(
            r'argument --home: 0.5, 9 is not free; the nearest .* is 0.475, 1.175, 7.83 m away, '
            'expected one at most 1 m away')):
        home_on(flat(DOOR), Pose(0.5, 9.0, 0.0), 0.2)


def test_where_nothing_is_free_no_home_is() -> None:
    with pytest.raises(InvalidValueError, match='no place of the map has 2 m around it free'):
        home_on(flat(DOOR), None, 2.0)
