# SPDX-License-Identifier: Apache-2.0

"""What a route graph costs to explore is counted in steps, metres and hours."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import routes
from routes import Cost


@pytest.fixture
def triangle(tmp_path: Path) -> Path:
    """Return a graph with sides of 3, 4 and 5 m, of which the longest is driven one way."""
    path = tmp_path / 'triangle.geojson'
    corners = [(0, 0), (3, 0), (3, 4)]
    pairs = [(0, 1), (1, 0), (1, 2), (2, 1), (0, 2)]
    path.write_text(json.dumps({'features': [
        *({'properties': {'id': number}, 'geometry': {'type': 'Point', 'coordinates': corner}}
          for number, corner in enumerate(corners)),
        *({'properties': {'id': 10 + number, 'startid': start, 'endid': end},
           'geometry': {'type': 'LineString'}} for number, (start, end) in enumerate(pairs))]}))
    return path


def test_the_way_home_is_the_shortest(triangle: Path) -> None:
    _, graph, _ = routes.world(str(triangle))
    ways = routes.ways_home(graph, 0)
    assert {place: edge.end for place, edge in ways.items()} == {1: 0, 2: 1}


def test_every_place_is_known_and_the_metres_are_those_of_the_edges(triangle: Path) -> None:
    world = routes.world(str(triangle))
    cost = routes.explore(*world, 0, 1.0, 5000)
    assert cost.known == 3 and 0 < cost.resets < cost.steps
    drives = cost.steps - cost.resets
    assert 3 * drives <= cost.driven <= 5 * drives
    assert 3 * cost.legs <= cost.home <= 4 * cost.legs and cost.legs >= cost.resets / 2
    assert routes.explore(*world, 0, 1.0, 5).known is None


def test_hours_are_of_driving_and_of_pauses() -> None:
    assert Cost(300, 20, 1500.0, 300.0, 60, 4).hours(0.5, 2.0) == pytest.approx(1.2)


def test_a_line_for_each_run(triangle: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert routes.main([str(triangle), '--seeds', '1']) == 0
    head, line = capsys.readouterr().out.splitlines()
    found = dict(zip(head.split(), line.replace(' m ', ' ').split()))
    assert (found['graph'], found['places'], found['edges'], found['known']) == (
        'triangle', '3', '5', '3')
    with pytest.raises(SystemExit):
        routes.main([str(triangle.with_name('absent.geojson'))])
    assert 'cannot be read (No such file or directory)' in capsys.readouterr().err
