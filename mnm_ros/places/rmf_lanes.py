# SPDX-License-Identifier: Apache-2.0

"""
Number the lanes of a graph of Open-RMF as its fleet adapters do.

A request to close lanes names them by these numbers. ``places/rmf.py`` adds the lanes that it
reads, and stores their numbers in the edges. The rules are those of ``parse_graph.cpp``:

- Lanes count from 0, level by level, in the order of the file.
- A navigation graph is made of a building file first. A bidirectional lane becomes two lanes, and
  the levels are sorted by their names.
- ``is_bidirectional`` of a navigation graph is not read: there is no lane back.
- A lane that docks, and that begins with a door or a lift, becomes two lanes.
- The lanes of a lift come last: there and back, for each two vertices that follow each other. With
  several lifts a hash table decides their order, and of a building file the outline of a lift
  decides which vertices are in it. The numbers of these lanes are unknown.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from mnm_ros.core.errors import FileError
from mnm_ros.located_yaml import read

REQUESTS = '/lane_closure_requests'
"""The topic of requests to close and open lanes, as ``StandardNames.hpp`` names it."""


class LaneOptions(NamedTuple):
    """
    The options of a lane that decide how many lanes a fleet adapter makes of it.

    :ivar event: whether it leads through a door, or is the mock of a lift.
    :ivar dock: where it docks; empty for nowhere.
    """

    event: bool = False
    dock: str = ''


@dataclass
class LaneNumbers:
    """
    Collects the lanes of a graph, and numbers them once all are there.

    :ivar building: whether they are those of a building file.
    """

    building: bool = False
    _lanes: dict[str, list[tuple[str, int]]] = field(default_factory=dict)    # by level
    _lifts: dict[str, list[int]] = field(default_factory=dict)    # vertices by lift
    _in_lift: dict[int, str] = field(default_factory=dict)

    def add_to_lift(self, lift: str, vertex: int) -> None:
        """Add a vertex to a lift, before the lanes of its level."""
        self._lifts.setdefault(lift, []).append(vertex)
        self._in_lift[vertex] = lift

    def add(self, level: str, edge: str, ends: tuple[int, int], options: LaneOptions) -> None:
        """Add the next lane of a level, by the key of its edge."""
        in_lift = [end in self._in_lift for end in ends]
        begins_with_event = not all(in_lift) if any(in_lift) else options.event
        lanes = 2 if options.dock and begins_with_event else 1
        self._lanes.setdefault(level, []).append((edge, lanes))

    @property
    def of_edges(self) -> Mapping[str, tuple[int, ...]]:
        """Return the numbers of the lanes along each edge that is not a lift."""
        found: dict[str, tuple[int, ...]] = {}
        number = 0
        for level in sorted(self._lanes) if self.building else self._lanes:
            for edge, lanes in self._lanes[level]:
                found[edge] = tuple(range(number, number + lanes))
                number += lanes
        return found

    @property
    def of_lifts(self) -> Mapping[tuple[int, int], tuple[int, ...]]:
        """Return the numbers of the lanes that a lift makes, by their vertices."""
        moving = [each for each in self._lifts.values() if len(each) > 1]
        if len(moving) != 1 or self.building:
            return {}
        found: dict[tuple[int, int], tuple[int, ...]] = {}
        number = sum(map(len, self.of_edges.values()))
        for one, other in zip(moving[0], moving[0][1:]):
            found[one, other], found[other, one] = (number,), (number + 1,)
            number += 2
        return found


def requested(path: Path, fleet: str | None) -> frozenset[int]:
    """Return the lanes that a file asks a fleet to close; none if it is no such request."""
    try:
        request = read(path, 'lane request').mapping('a lane request')
        if request.required('fleet_name', 'a name').text('a name') != fleet:
            return frozenset()
        return frozenset(
            lane.integer('a lane', 0) for lane in request.listed('close_lanes'))
    except FileError:
        return frozenset()
