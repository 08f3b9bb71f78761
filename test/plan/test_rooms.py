# SPDX-License-Identifier: Apache-2.0

"""Specks, rooms and doors of a map."""

from __future__ import annotations

import math
import subprocess
import sys

from flats import DOOR, flat
from mnm_ros.plan.openings import find_openings
from mnm_ros.plan.rooms import label_at, labelled, letters, middle, sides
from mnm_ros.plan.specks import without_specks
import pytest

SPECK = (0.5, 0.5, 0.6, 0.6, -1)
LEG = (1.5, 2.0, 1.55, 2.05, 100)


def test_specks_within_what_is_free_are_removed() -> None:
    map_, specks = without_specks(flat(DOOR, SPECK, LEG), 0.05, 0.0025)
    assert (map_.pixel_rows == flat(DOOR).pixel_rows).all()
    assert sorted((speck.place, speck.occupied) for speck in specks) == [
        (pytest.approx((-0.45, -0.95)), False), (pytest.approx((0.525, 0.525)), True)]
    assert [speck.area for speck in specks] == [pytest.approx(0.01), pytest.approx(0.0025)]


@pytest.mark.parametrize(('rectangle', 'limits'), [
    (SPECK, (0.009, 1.0)), (LEG, (1.0, 0.0024)),      # too large
    ((0.1, 1.0, 0.2, 1.1, -1), (0.05, 0.0025)),       # at a wall
    ((0.5, 0.5, 0.7, 0.7, 100), (1.0, 0.0025)),
])
def test_nothing_else_is_removed(rectangle: tuple, limits: tuple) -> None:
    map_ = flat(DOOR, rectangle)
    assert without_specks(map_, *limits) == (map_, [])


def test_the_border_of_the_map_is_no_speck() -> None:
    map_ = flat(DOOR)
    assert without_specks(map_, 1000.0, 1000.0) == (map_, [])


@pytest.mark.parametrize('yaw', [0.0, 0.3, -0.7])
def test_a_door_is_found_between_two_rooms(yaw: float) -> None:
    map_ = flat(DOOR, yaw=yaw)
    line, = find_openings(map_, 0.95, 1.0)
    (x, y), (to_x, to_y) = line
    # The door is 0.05 m right of the middle of the flat, about which it is turned.
    assert math.dist(((x + to_x) / 2, (y + to_y) / 2), (
        2.0 + 0.05 * math.cos(yaw), 0.05 * math.sin(yaw))) < 0.12
    assert math.dist(*line) == pytest.approx(0.8, abs=0.08)
    labels = labelled(map_, [line])
    assert labels.max() == 2 and {*sides(map_, labels, line)} == {1, 2}
    ends = ((2 + side * 1.5 * math.cos(yaw), side * 1.5 * math.sin(yaw)) for side in (-1, 1))
    assert [label_at(map_, labels, end) for end in ends] in ([1, 2], [2, 1])


def test_where_nothing_is_narrow_no_door_is() -> None:
    assert find_openings(flat((3, 0.1, 3.1, 2.9, 0)), 0.95, 1.0) == []     # one room
    assert find_openings(flat((3, 0.2, 3.1, 2.8, 0)), 0.95, 1.0) == []     # wide
    assert find_openings(flat(), 0.95, 1.0) == []                          # a wall


def test_a_niche_is_no_room() -> None:
    niche = (0.1, 2.0, 1.0, 2.1, 100), (1.0, 2.0, 1.1, 2.5, 100)
    assert len(find_openings(flat(DOOR, *niche), 0.95, 1.0)) == 1


def test_what_no_line_divides_is_one_room() -> None:
    map_ = flat(DOOR)
    short = (2.0, 0.2), (2.0, -0.2)
    assert labelled(map_, [short]).max() == 1
    assert len({*sides(map_, labelled(map_, [short]), short)}) == 1
    assert labelled(map_, []).max() == 1 and labelled(flat(), []).max() == 2


def test_a_door_may_be_in_any_direction_of_its_line() -> None:
    map_ = flat(DOOR)
    line, = find_openings(map_, 0.95, 1.0)
    assert (labelled(map_, [line]) == labelled(map_, [line[::-1]])).all()


def test_the_middle_of_a_room_is_far_from_its_walls() -> None:
    map_ = flat()
    labels = labelled(map_, [])
    assert [middle(map_, labels, label)[1] for label in (1, 2)] == [
        pytest.approx(0, abs=0.03)] * 2


def test_letters() -> None:
    assert letters(2) == ['A', 'B'] and letters(28)[-3:] == ['Z', 'A2', 'B2']


def test_a_node_without_a_plan_does_not_import_scipy() -> None:
    code = ('import sys; import mnm_ros.plan.findings, mnm_ros.plan.plan_file; '
            'print("scipy" in sys.modules)')
    done = subprocess.run([sys.executable, '-c', code], capture_output=True, text=True,
                          timeout=240, check=True)
    assert done.stdout == 'False\n'
