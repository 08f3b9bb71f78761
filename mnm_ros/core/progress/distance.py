# SPDX-License-Identifier: Apache-2.0

"""How far away states are by what was counted, to say why one is out of reach."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from heapq import heappop, heappush


def steps_away(home: int, targets: Iterable[int], actions: int,
               following: Callable[[int, int], Mapping[int, float]]) -> dict[int, float]:
    """
    Return how many steps states are from home, if each move is made until it does what it can.

    That is at least what the best policy takes by the counts where moves fail by staying, and
    close to it; states to which no way was seen are left out.

    :param actions: how many there are, without RESET.
    :param following: says how often each next state followed an action in a state.
    """
    wanted, found = {*targets}, {}
    reached: set[int] = set()
    border = [(0.0, home)]
    while border and wanted:
        steps, state = heappop(border)
        if state in reached:
            continue
        reached.add(state)
        if state in wanted:
            wanted.discard(state)
            found[state] = steps
        for action in range(actions):
            led = following(state, action)
            times = sum(led.values())
            for after, count in led.items():
                if after not in reached and count > 0:
                    heappush(border, (steps + times / count, after))
    return found
