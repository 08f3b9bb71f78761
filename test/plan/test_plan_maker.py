# SPDX-License-Identifier: Apache-2.0

"""What a map is made into: rooms and lines with names, as they are printed and kept."""

from __future__ import annotations

import math
from pathlib import Path

from flats import DOOR, flat, house, saved
from mnm_ros.plan.plan_file import load, text_of
from mnm_ros.plan.plan_maker import make
from mnm_ros.plan.request import Request
import pytest


def request(folder: Path, **given: object) -> Request:
    return Request(saved(folder, flat(DOOR)), robot_radius=0.15, sizes=(0.5,), **given)


def test_a_door_is_at_most_as_wide_as_it_was_asked_for_by_the_width_that_is_printed(
        tmp_path: Path) -> None:
    plan = make(request(tmp_path)).plan
    (name, line), = plan.doors.items()
    printed = float(f'{math.dist(*line):.2f}')
    assert name == 'A-B' and not plan.openings and printed == pytest.approx(0.8, abs=0.03)
    for width, doors in ((printed, 1), (printed - 0.01, 0)):
        found = make(request(tmp_path, door_width=width)).plan
        assert (len(found.doors), len(found.openings)) == (doors, 1 - doors)
        assert {*found.rooms} == {'A', 'B'} and len(found.lines) == 1


def test_openings_are_kept_in_the_file(tmp_path: Path) -> None:
    plan = make(Request(saved(tmp_path, house(1.2, 1.5, 2.0, 2.5, 1.8, 2.2, 1.4)),
                        sizes=(0.6,))).plan
    assert len(plan.rooms) == 6 and len(plan.openings) == 7 and not plan.doors
    path = tmp_path / 'flat.plan.yaml'
    path.write_text(text_of(plan, 'flat.yaml'))
    again = load(path)
    assert again.openings == plan.openings and (again.room_labels == plan.room_labels).all()
    assert {*again.room_names.values()} == {*'ABCDEF'}


def test_what_no_place_is_in_has_no_name(tmp_path: Path) -> None:
    """A wall divides the flat, so that home reaches half of it."""
    plan = make(Request(saved(tmp_path, flat()), sizes=(0.5,))).plan
    assert [*plan.rooms] == ['A']
