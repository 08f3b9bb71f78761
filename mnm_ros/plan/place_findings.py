# SPDX-License-Identifier: Apache-2.0

"""The faults of a place graph on its map, each with its place."""

from __future__ import annotations

from collections.abc import Iterator

from mnm_ros.places.place_graph import PlaceGraph
from mnm_ros.plan.findings import Finding
from mnm_ros.plan.place_rules import PlaceRules


def place_findings(rules: PlaceRules, graph: PlaceGraph) -> list[Finding]:
    """Return what is wrong, the worst first."""
    return [*_places(rules, graph), *_cut_off(graph), *_edges(rules, graph), *_names(graph)]


def _places(rules: PlaceRules, graph: PlaceGraph) -> Iterator[Finding]:
    radius = rules.plan.ways_radius
    order = sorted(graph.places.items(), key=lambda item: item[0] != graph.home)
    for number, place in order:
        at = place.x, place.y
        if not rules.is_free(at):
            home = number == graph.home
            yield Finding(f'{"home" if home else graph.name(number)} ({rules.plan.place(at)}) has '
                          f'less than {radius:g} m of free floor on all sides, the radius of the '
                          'robot and its clearance', at, home)


def _cut_off(graph: PlaceGraph) -> Iterator[Finding]:
    for places, text in zip(graph.cut_off, (
            'no way from home leads to', 'no way home leads from')):
        for number in sorted(places):
            place = graph.places[number]
            yield Finding(f'{text} {graph.name(number)}', (place.x, place.y))


def _edges(rules: PlaceRules, graph: PlaceGraph) -> Iterator[Finding]:
    seen = set()
    for edge in rules.blocked(graph):
        ends = frozenset((edge.start, edge.end))
        if ends not in seen:
            seen.add(ends)
            one, other = graph.places[edge.start], graph.places[edge.end]
            yield Finding(
                f'the straight way between {graph.name(edge.start)} and {graph.name(edge.end)} is '
                f'not free, with {rules.plan.ways_radius:g} m on both sides',
                ((one.x + other.x) / 2, (one.y + other.y) / 2))


def _names(graph: PlaceGraph) -> Iterator[Finding]:
    first: dict[str, int] = {}
    for number, place in graph.places.items():
        if place.name and first.setdefault(place.name, number) != number:
            yield Finding(
                f"places {first[place.name]} and {number} are both called '{place.name}'",
                (place.x, place.y))
