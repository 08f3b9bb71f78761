# SPDX-License-Identifier: Apache-2.0

"""The floors of a building beside each other in one plane, as ``PlaceGraph`` describes them."""

from __future__ import annotations

from collections.abc import Mapping
import math

_APART = 1.25    # of the extent of the largest floor, from one floor to the next, at least


def floors(level_of: Mapping[int, str]) -> dict[str, tuple[int, ...]]:
    """Return the places of each floor, in the order of the file; nothing if there is only one."""
    found: dict[str, list[int]] = {}
    for place, level in level_of.items():
        found.setdefault(level, []).append(place)
    return {level: tuple(each) for level, each in found.items()} if len(found) > 1 else {}


def apart(at: Mapping[int, tuple[float, float]],
          level_of: Mapping[int, str]) -> dict[int, tuple[float, float]]:
    """
    Return the positions of places in m, each floor above the one before.

    Floors are a power of two apart, so that an edited place hardly ever moves a whole floor.
    """
    levels = floors(level_of)
    if not levels:
        return {**at}
    extents = [max(ys) - min(ys) for places in levels.values()
               for ys in [[at[place][1] for place in places]]]
    step = 2.0 ** math.ceil(math.log2(max(_APART * max(extents), 1.0)))
    return {place: (at[place][0], at[place][1] + floor * step)
            for floor, places in enumerate(levels.values()) for place in places}
