# SPDX-License-Identifier: Apache-2.0

"""Pictures: no label covers another one, and all that is drawn is explained."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations
from pathlib import Path
import re
from xml.etree import ElementTree

from flats import DOOR, flat, house, office, saved
from mnm_ros.driving.occupancy import Map
from mnm_ros.plan import place_maker, plan_maker
from mnm_ros.plan.labels import around, Labels, near
from mnm_ros.plan.picture import _sides, graph_layers, graph_svg, svg
from mnm_ros.plan.request import Request
import pytest
from tiers import strength

WIDE = 0.55    # of a letter, by the size of the font


def boxes(picture: str) -> Iterator[tuple[str, float, float, float, float]]:
    """Yield the labels of a picture on the map, with their sides as a browser draws them."""
    for element in ElementTree.fromstring(picture).iter():
        if element.tag.endswith('}text') and element.get('class') != 'legend':
            size = float(re.search(r'font-size: ([\d.]+)', element.get('style', ''))[1])
            x, y, half = float(element.get('x')), float(element.get('y')), WIDE * size / 2
            text = element.text or ''
            yield text, x - half * len(text), y - size / 2, x + half * len(text), y + size / 2


def pictures(folder: Path, map_: Map) -> dict[str, str]:
    request = Request(saved(folder, map_), robot_radius=0.15, keep_outs={
        'stairs': ((0.0, -0.6), (0.3, -0.6), (0.3, -0.3))})
    made = place_maker.make(request, folder / 'flat.geojson')
    return {'graph': graph_svg(made.plan, made.graph), 'cells': svg(plan_maker.make(request).plan)}


@pytest.mark.parametrize('map_', [
    flat(DOOR), *strength((), (flat(DOOR, yaw=0.3), office(), house(*[1.5] * 7)))])
def test_labels_do_not_overlap(tmp_path: Path, map_: Map) -> None:
    for kind, picture in pictures(tmp_path, map_).items():
        found = [*boxes(picture)]
        assert len(found) >= 6, kind
        for one, other in combinations(found, 2):
            apart = (one[3] <= other[1] or other[3] <= one[1]
                     or one[4] <= other[2] or other[4] <= one[2])
            assert apart, (kind, one, other)


def test_a_way_has_one_line_and_an_arrow_where_it_has_one_direction(tmp_path: Path) -> None:
    made = place_maker.make(Request(saved(tmp_path, flat(DOOR)), robot_radius=0.15),
                            tmp_path / 'flat.geojson')
    edges = made.graph.edges
    there = edges[0].start, edges[0].end
    one_way = replace(made.graph, edges=tuple(
        edge for edge in edges if (edge.end, edge.start) != there))
    assert len(one_way.edges) == len(edges) - 1
    for graph, arrows in ((made.graph, 0), (one_way, 1)):
        drawn = graph_layers(made.plan, graph)['places']
        lines = re.findall(r'data-start="(\d+)" data-end="(\d+)"', drawn)
        assert len(lines) == len(edges) // 2 == len({frozenset(each) for each in lines})
        assert drawn.count('class="arrow"') == arrows


def test_each_place_has_one_mark_and_home_its_own(tmp_path: Path) -> None:
    made = place_maker.make(Request(saved(tmp_path, flat(DOOR)), robot_radius=0.15),
                            tmp_path / 'flat.geojson')
    drawn = ''.join(graph_layers(made.plan, made.graph).values())
    marks = re.findall(r'class="(\w+)" data-place="(\d+)"', drawn)
    assert sorted(int(place) for _, place in marks) == sorted(made.graph.places)
    assert [int(place) for kind, place in marks if kind == 'home'] == [made.graph.home]


def test_no_line_of_the_grid_goes_through_the_name_of_a_room(tmp_path: Path) -> None:
    request = Request(saved(tmp_path, flat(DOOR)), robot_radius=0.15, sizes=(0.6,),
                      rooms={'den': (0.5, 0.0), 'hall': (3.5, 0.0)})
    plan = plan_maker.make(request).plan
    sides = [*_sides(plan)]
    upright = {round(start[0], 3) for start, end in sides if abs(start[0] - end[0]) < 1e-6}
    level = {round(start[1], 3) for start, end in sides if abs(start[1] - end[1]) < 1e-6}
    assert len({*map(str, sides)}) == len(sides) and len(upright) > 2 < len(level)
    named = [box for box in boxes(svg(plan)) if box[0] in ('den', 'hall')]
    assert len(named) == 2
    for _, left, low, right, high in named:
        assert not [x for x in upright if left < x < right]
        assert not [y for y in level if low < y < high]


def test_each_mark_is_in_the_legend(tmp_path: Path) -> None:
    for kind, picture in pictures(tmp_path, flat(DOOR)).items():
        root = ElementTree.fromstring(picture)
        legend = [element.text for element in root.iter() if element.get('class') == 'legend']
        assert {'home', 'a door', 'a keep-out', 'occupied', 'unknown'} <= {*legend}
        assert any('number 3 of room A is "A 3"' in (text or '') for text in legend), kind
        assert ('a way through a door' in legend) is (kind == 'graph')
        assert 'an opening between rooms' not in legend


def test_a_label_avoids_marks_and_lines_if_it_can() -> None:
    labels = Labels(1.0, (-50, -50, 50, 50))
    labels.mark((0, 0), 2.0)
    labels.line((-20, -4), (20, -4), 0.5)    # above the mark
    x, y = labels.place('12', 3.0, around((0, 0), '12', 3.0, 3.0))
    assert y >= 0 and abs(x) + abs(y) > 2
    assert labels.place('12', 3.0, [(x, y)]) is None
    assert labels.place('kitchen', 3.0, near((x, y), 3.0)) is not None
    assert labels.place('hall', 3.0, [(48, 0), (0, 49.5)]) is None    # outside of the picture
