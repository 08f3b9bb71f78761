# SPDX-License-Identifier: Apache-2.0

"""
Edits of a place graph, one at a time, as a page asks for them: JSON objects with a key ``edit``.

==========  ====================================================================================
move        ``place``, ``to`` in m; its edges stay
add         ``at`` in m; edges to and from the neighbours whose straight way is free
rename      ``place``, ``to``
home        ``place``
join        ``start``, ``end``; an edge in both directions, or with ``one_way`` true in one
cut         ``start``, ``end``; the edges in both directions
remove      ``place``, with its edges
==========  ====================================================================================

Places are named by their numbers. No edit cuts a place off from home, or puts a place or an edge
where the robot may not be.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain, count
import math
import re

from mnm_ros.driving.occupancy import Point
from mnm_ros.places.place_graph import Edge, Place, PlaceGraph
from mnm_ros.plan.draft import Edit
from mnm_ros.plan.findings import at_point
from mnm_ros.plan.place_rules import LEAST_ZONE, PlaceRules

_MOST_ID = 2**32 - 1    # of nav2


def edited(rules: PlaceRules, graph: PlaceGraph, edit: object) -> PlaceGraph:
    """
    Return a graph after an edit.

    :raises InvalidValueError: with what was found and what was expected.
    """
    given = Edit(edit, _EDITS)
    after = rules.followed(_EDITS[given.kind](rules, graph, given), graph)
    for before, now, name in zip(graph.cut_off, after.cut_off, (
            'cut_from_home', 'cut_to_home')):
        if now - before:
            raise given.refused(name, places=after.names(now - before))
    return after


def _move(rules: PlaceRules, graph: PlaceGraph, edit: Edit) -> PlaceGraph:
    number, to = _place(graph, edit, 'place'), _rounded(edit.point('to'))
    _check_point(rules, graph, edit, to, number)
    place = graph.places[number]
    room = rules.plan.room_at(to) or ''
    moved = replace(place, x=to[0], y=to[1])
    if place.room == _room_at(rules, place) != room:
        numbered = re.fullmatch(re.escape(place.room) + r' \d+', place.name)
        moved = replace(moved, room=room, name=_new_name(graph, room) if numbered else place.name)
    after = replace(graph, places={**graph.places, number: moved})
    ends = {end for edge in rules.blocked(after) if number in (edge.start, edge.end)
            for end in (edge.start, edge.end) if end != number}
    if ends:
        raise edit.refused('no_way_along', at=at_point(to), places=graph.names(ends),
                           place=graph.name(number))
    return after


def _add(rules: PlaceRules, graph: PlaceGraph, edit: Edit) -> PlaceGraph:
    at = _rounded(edit.point('at'))
    _check_point(rules, graph, edit, at)
    beside = rules.neighbours(at, graph)
    if not beside:
        raise edit.refused('no_neighbour', at=at_point(at))
    room = rules.plan.room_at(at) or ''
    number = next(_free_ids(graph))
    after = replace(graph, places={
        **graph.places, number: Place(*at, _new_name(graph, room), room=room)})
    return _with_edges(after, after.edges, [
        ends for other in beside for ends in ((other, number), (number, other))])


def _rename(rules: PlaceRules, graph: PlaceGraph, edit: Edit) -> PlaceGraph:
    number, name = _place(graph, edit, 'place'), edit.name('to')
    if any(place.name == name for other, place in graph.places.items() if other != number):
        raise edit.wrong('to', 'place_name')
    return replace(graph, places={
        **graph.places, number: replace(graph.places[number], name=name)})


def _home(rules: PlaceRules, graph: PlaceGraph, edit: Edit) -> PlaceGraph:
    home = _place(graph, edit, 'place')
    return replace(graph, places={number: replace(place, home=number == home)
                                  for number, place in graph.places.items()})


def _join(rules: PlaceRules, graph: PlaceGraph, edit: Edit) -> PlaceGraph:
    start, end = _ends(graph, edit)
    one_way = edit.truth('one_way')
    kept = [edge for edge in graph.edges
            if not one_way or (edge.start, edge.end) != (end, start)]
    there = {(edge.start, edge.end) for edge in kept}
    new = [ends for ends in ([(start, end)] if one_way else [(start, end), (end, start)])
           if ends not in there]
    if not new and len(kept) == len(graph.edges):
        raise edit.refused('joined', start=graph.name(start), end=graph.name(end))
    after = _with_edges(graph, kept, new)
    if any({edge.start, edge.end} == {start, end} for edge in rules.blocked(after)):
        raise edit.refused('no_free_way', start=graph.name(start), end=graph.name(end),
                           radius=rules.plan.ways_radius)
    return after


def _cut(rules: PlaceRules, graph: PlaceGraph, edit: Edit) -> PlaceGraph:
    ends = {*_ends(graph, edit)}
    kept = tuple(edge for edge in graph.edges if {edge.start, edge.end} != ends)
    if len(kept) == len(graph.edges):
        raise edit.refused('no_edge', places=graph.names(ends))
    return _without(graph, graph.places, kept, edit)


def _remove(rules: PlaceRules, graph: PlaceGraph, edit: Edit) -> PlaceGraph:
    number = _place(graph, edit, 'place')
    if number == graph.home:
        raise edit.refused('is_home', place=graph.name(number))
    return _without(
        graph, {other: place for other, place in graph.places.items() if other != number},
        tuple(edge for edge in graph.edges if number not in (edge.start, edge.end)), edit)


_EDITS: dict[str, Callable[[PlaceRules, PlaceGraph, Edit], PlaceGraph]] = {
    'move': _move, 'add': _add, 'rename': _rename, 'home': _home, 'join': _join, 'cut': _cut,
    'remove': _remove}


def _place(graph: PlaceGraph, edit: Edit, key: str) -> int:
    number = edit.given.get(key)
    if type(number) is not int or number not in graph.places:
        raise edit.wrong(key, 'place')
    return number


def _ends(graph: PlaceGraph, edit: Edit) -> tuple[int, int]:
    start, end = _place(graph, edit, 'start'), _place(graph, edit, 'end')
    if start == end:
        raise edit.wrong('end', 'other_place')
    return start, end


def _check_point(rules: PlaceRules, graph: PlaceGraph, edit: Edit, at: Point,
                 moved: int | None = None) -> None:
    """Raise InvalidValueError if no place may be at a point, or another place is there."""
    if not rules.is_free(at):
        raise edit.refused('not_free', at=at_point(at), radius=rules.plan.ways_radius)
    near = {number for number, place in graph.places.items()
            if number != moved and math.dist(at, (place.x, place.y)) < 2 * LEAST_ZONE}
    if near:
        raise edit.refused(
            'taken', at=at_point(at), places=graph.names(near), apart=2 * LEAST_ZONE)


def _with_edges(graph: PlaceGraph, kept: Sequence[Edge],
                new: Sequence[tuple[int, int]]) -> PlaceGraph:
    """Return a graph with the edges that are kept, and new ones between places."""
    return replace(graph, edges=(*kept, *(
        Edge(str(number), start, end) for number, (start, end) in zip(_free_ids(graph), new))))


def _without(graph: PlaceGraph, places: Mapping[int, Place], edges: tuple[Edge, ...],
             edit: Edit) -> PlaceGraph:
    """Return a graph with fewer places and edges; a graph has one edge at least."""
    if not any(edge.start != edge.end for edge in edges):
        raise edit.refused('no_edge_left')
    return replace(graph, places=places, edges=edges)


def _free_ids(graph: PlaceGraph) -> Iterator[int]:
    """Yield ids that no place and no edge has, after all others if nav2 can have more."""
    used = {*graph.places, *(int(edge.key) for edge in graph.edges)}
    after = max(used) + 1
    return (number for number in chain(range(after, _MOST_ID + 1), range(1, after))
            if number not in used)


def _new_name(graph: PlaceGraph, room: str) -> str:
    """Return a name for one more place of a room; empty outside of all rooms."""
    names = {place.name for place in graph.places.values()}
    return next(name for number in count(1) if (name := f'{room} {number}') not in names) if (
        room) else ''


def _room_at(rules: PlaceRules, place: Place) -> str:
    return rules.plan.room_at((place.x, place.y)) or ''


def _rounded(point: Point) -> Point:
    return round(point[0], 3), round(point[1], 3)
