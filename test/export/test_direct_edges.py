# SPDX-License-Identifier: Apache-2.0

"""Routes over the direct ways that were learnt."""

from __future__ import annotations

from itertools import permutations

from late import late
from mnm_ros.core import Knowledge, RESET
from mnm_ros.core.knowledge.knowledge import nested
from mnm_ros.export.direct_edges import bounds, DirectEdges, interval
import numpy as np
import pytest

stats = late('scipy.stats')

HOME, HALL, ATTIC, YARD = range(4)
ROWS = [(HOME, 0, HALL, 20), (HALL, 0, YARD, 20), (YARD, 0, ATTIC, 20),
        (HALL, 1, ATTIC, 5), (HALL, 1, HALL, 5), (ATTIC, 0, HALL, 1), (ATTIC, 0, ATTIC, 9),
        (YARD, RESET, HOME, 20)]
KNOWN = Knowledge(home=HOME, known=(HOME, HALL, ATTIC, YARD), counts=nested(ROWS))


def route(start: int, end: int, nodes: tuple[int, ...] = KNOWN.known) -> list[int] | None:
    found = DirectEdges.of(KNOWN, nodes).route(start, end)
    return None if found is None else [start, *(edge.following for edge in found)]


def test_routes_take_the_fewest_expected_steps() -> None:
    """One step that fails half of the time takes as many as two that are certain."""
    assert route(HALL, ATTIC) in ([HALL, ATTIC], [HALL, YARD, ATTIC])
    assert route(HOME, YARD) == [HOME, HALL, YARD]
    assert route(HOME, HOME) == [HOME]


def test_there_is_no_route_by_reset_nor_by_what_hardly_works() -> None:
    assert route(YARD, HOME) is None and route(ATTIC, HALL) is None
    assert route(HOME, YARD, (HOME, YARD)) is None


@pytest.mark.parametrize('seed', range(20))
def test_no_route_is_shorter(seed: int) -> None:
    """Compared with all sequences of states, in random graphs of five."""
    draw = np.random.default_rng(seed)
    rows = [row for state in range(5) for action in range(3) for row in (
        (state, action, (state + int(draw.integers(1, 5))) % 5, int(draw.integers(20, 60))),
        (state, action, state, int(draw.integers(1, 40))))]
    known = Knowledge(home=0, known=tuple(range(5)), counts=nested(rows))
    graph = DirectEdges.of(known, range(5))
    steps = {(edge.state, edge.following): 1 / edge.probability for edge in graph.edges}
    for start, end in permutations(range(5), 2):
        between = [state for state in range(5) if state not in (start, end)]
        ways = [[*zip((start, *middle), (*middle, end))]
                for count in range(4) for middle in permutations(between, count)]
        best = min((sum(steps[leg] for leg in way) for way in ways if {*way} <= steps.keys()),
                   default=None)
        found = graph.route(start, end)
        assert (found is None) == (best is None), seed
        if found is not None and best is not None:
            assert sum(1 / edge.probability for edge in found) == pytest.approx(best), seed


@pytest.mark.parametrize(('times', 'tried'), [(1, 10), (5, 10), (10, 10)])
def test_bounds_are_exact(times: int, tried: int) -> None:
    failed = [(0, 0, 0, tried - times)] if tried > times else []
    edge = Knowledge(counts=nested([*failed, (0, 0, 1, times)])).after(0, 0)[-1]
    exact = stats.binomtest(times, tried).proportion_ci(0.95, 'exact')
    assert bounds(edge) == pytest.approx((exact.low, exact.high))


def test_the_interval_is_exact_also_for_what_never_or_always_came() -> None:
    assert interval(0, 100) == pytest.approx((0, 1 - 0.025 ** 0.01))
    assert interval(100, 100) == pytest.approx((0.025 ** 0.01, 1))
