# SPDX-License-Identifier: Apache-2.0

"""A robot that works from the start is explored in between, and both are counted."""

from __future__ import annotations

from mnm_ros.simulation.cmp import grid_cmp, support
from mnm_ros.simulation.ground_truth import reachable_states
import pytest
from tiers import thorough
import work


def test_the_flat_is_as_the_text_says() -> None:
    flat = grid_cmp(work.FLAT, work.SLIP, work.ACTIONS)
    assert len(support(flat).successors) == len(reachable_states(flat, work.RADIUS)) == 50


@pytest.mark.parametrize('way', [pytest.param(way, marks=() if way in (
    'preferred', 'not counted') else thorough('benchmarks/test_work_benchmark.py::test_a_run'))
    for way in work.WAYS])
def test_a_run(way: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """In a flat of six places, as the one of 50 takes a while."""
    monkeypatch.setattr(work, 'FLAT', ('..S', '...'))
    monkeypatch.setattr(work, 'RADIUS', 5.0)
    run = work.Run(0, way, 10, 200, 0, '')
    tally = run.tally
    assert (tally.goals > 0) == (tally.steps > 0) == (way != 'no goals')
    assert (run.exploration.work > 0) == (way in ('preferred', 'counted'))
    assert tally.refused == tally.failed == 0
    assert tally.half and tally.all_certified
    assert tally.half <= tally.all_certified and tally.half <= (tally.proven or 0)
