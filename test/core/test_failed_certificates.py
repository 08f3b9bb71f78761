# SPDX-License-Identifier: Apache-2.0

"""States that failed a certificate are looked at again when something was learnt."""

from __future__ import annotations

from mnm_ros.core.disco.failed_certificates import Setbacks
from mnm_ros.core.model.counts import Counts
import numpy as np

MOVES = np.array([0, 1])


def test_a_state_is_due_when_its_pairs_were_tried_or_more_is_known() -> None:
    counts = Counts()

    def execute(state: int, times: int) -> None:
        for _ in range(times):
            counts.add(state, 0, 1)

    execute(0, 60)
    execute(1, 40)
    setbacks = Setbacks(counts)
    assert setbacks.due(9, 2) and setbacks.moves(9) is None
    setbacks.note(9, 2, MOVES, ((0, 0), (1, 0)))
    assert not setbacks.due(9, 2) and setbacks.due(9, 3) and setbacks.due(8, 2)
    assert setbacks.moves(9) is MOVES
    execute(2, 100)    # of which it does not depend
    execute(1, 4)
    assert not setbacks.due(9, 2)
    execute(0, 1)
    assert setbacks.due(9, 2)


def test_what_failed_is_forgotten() -> None:
    setbacks = Setbacks(Counts())
    for forget in (lambda: setbacks.forget(9), setbacks.clear):
        setbacks.note(9, 2, MOVES, ())
        forget()
        assert setbacks.moves(9) is None and setbacks.due(9, 2)
