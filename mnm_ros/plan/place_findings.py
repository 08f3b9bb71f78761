# SPDX-License-Identifier: Apache-2.0

"""The faults of a place graph on its map, each with its place."""

from __future__ import annotations

from collections.abc import Iterator
import math

from mnm_ros.driving.occupancy import Map
from mnm_ros.language import few, Phrase, Text
from mnm_ros.places.place_graph import PlaceGraph
from mnm_ros.plan.findings import at_place, Finding, idle_keep_outs, keep_outs_of, padded
from mnm_ros.plan.floor_plan import Plan
from mnm_ros.plan.place_rules import PlaceRules
from mnm_ros.plan.rooms import Line
import numpy as np

_NAMED = 3    # keep-outs


def place_findings(rules: PlaceRules, graph: PlaceGraph) -> list[Finding]:
    """Return what is wrong, the worst first."""
    keep_outs = _KeepOuts(rules.plan)
    return [*_places(rules, graph, keep_outs), *_cut_off(graph),
            *_edges(rules, graph, keep_outs), *_names(graph), *idle_keep_outs(rules.plan)]


class _KeepOuts:
    """The keep-outs of a plan, each alone on a map without walls."""

    def __init__(self, plan: Plan) -> None:
        self._radius = plan.ways_radius
        margin = math.ceil(self._radius / plan.map.resolution) + 1
        found = keep_outs_of(plan)
        self._alone = {name: padded(plan.map, within, margin) for name, within in found.items()}
        self._empty = padded(plan.map, np.zeros_like(plan.kept_out), margin)

    def on(self, way: Line) -> Text:
        """Return which keep-outs close a straight way, as the end of a sentence; '' for none."""
        names = [name for name, alone in self._alone.items() if not self._is_free(alone, way)
                 ] if self._alone and self._is_free(self._empty, way) else []
        return Phrase.of('findings.because', keep_outs=few(names, _NAMED)) if names else ''

    def _is_free(self, map_: Map, way: Line) -> bool:
        start, end = way
        return bool(map_.is_free([start], [end], self._radius)[0])


def _places(rules: PlaceRules, graph: PlaceGraph, keep_outs: _KeepOuts) -> Iterator[Finding]:
    radius = rules.plan.ways_radius
    order = sorted(graph.places.items(), key=lambda item: item[0] != graph.home)
    for number, place in order:
        at = place.x, place.y
        if not rules.is_free(at):
            home = number == graph.home
            yield Finding(Phrase.of(
                'findings.not_free', place=Phrase.of('kinds.home') if home else graph.name(number),
                at=at_place(rules.plan, at), radius=radius, because=keep_outs.on((at, at))),
                at, home)


def _cut_off(graph: PlaceGraph) -> Iterator[Finding]:
    for places, how in zip(graph.cut_off, ('not_from_home', 'not_to_home')):
        for number in sorted(places):
            place = graph.places[number]
            yield Finding(Phrase.of(f'findings.{how}', place=graph.name(number)),
                          (place.x, place.y))


def _edges(rules: PlaceRules, graph: PlaceGraph, keep_outs: _KeepOuts) -> Iterator[Finding]:
    seen = set()
    for edge in rules.blocked(graph):
        ends = frozenset((edge.start, edge.end))
        if ends not in seen:
            seen.add(ends)
            one, other = graph.places[edge.start], graph.places[edge.end]
            way = (one.x, one.y), (other.x, other.y)
            yield Finding(Phrase.of(
                'findings.way_not_free', start=graph.name(edge.start), end=graph.name(edge.end),
                radius=rules.plan.ways_radius, because=keep_outs.on(way)),
                ((one.x + other.x) / 2, (one.y + other.y) / 2))


def _names(graph: PlaceGraph) -> Iterator[Finding]:
    first: dict[str, int] = {}
    for number, place in graph.places.items():
        if place.name and first.setdefault(place.name, number) != number:
            yield Finding(Phrase.of('findings.same_name', first=first[place.name], second=number,
                                    name=place.name), (place.x, place.y))
