# SPDX-License-Identifier: Apache-2.0

"""Worlds of a few places, in which an exploration takes a second."""

from __future__ import annotations

from pathlib import Path

from mnm_ros.core.model.counts import Pair
from mnm_ros.simulation.cmp import Cmp, TableCmp
from mnm_ros.simulation.scenario import Scenario, Setting

EAST, WEST = 0, 1


def scenario_of(*cmps: Cmp) -> Scenario:
    """Return a scenario that changes from one CMP to the next when it is told to."""
    return Scenario('', tuple(map(str, range(cmps[0].actions))), cmps[0].start, tuple(
        Setting(cmp, None) for cmp in cmps), Path())


def row(places: int, chance: float = 0.9, closed: Pair | None = None) -> TableCmp:
    """
    Return places in a row, home first, whose moves succeed with ``chance``.

    :param closed: the state-action pair that never leads on.
    """
    last = places - 1
    table = {(place, action): ((min(last, max(0, place + move)), chance), (place, 1 - chance))
             for place in range(places) for action, move in ((EAST, 1), (WEST, -1))}
    return TableCmp(0, 2, table | ({closed: ((closed[0], 1.0),)} if closed else {}))


def closing_row(places: int = 3) -> Scenario:
    """Return a row whose last but one place loses its way to the last one with the change."""
    return scenario_of(row(places), row(places, closed=(places - 2, EAST)))
