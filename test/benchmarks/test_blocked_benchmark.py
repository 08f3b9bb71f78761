# SPDX-License-Identifier: Apache-2.0

"""What never works is counted, and an opening is met, by the benchmark for both."""

from __future__ import annotations

import blocked
from mnm_ros.core.model.problem import RESET
import pytest
from tiers import thorough


def test_the_flat_is_as_the_text_says() -> None:
    assert len(blocked.PLACES) == 46 and len(blocked.NEVER) == 10
    closed, declared = blocked.flat(0.0005), blocked.declaration()
    for state, action in blocked.NEVER:
        assert len(declared.successors[state][action]) == 2    # by the map it leads on
        assert dict(closed.transitions(state, action))[state] > 0.999
    opened = blocked.flat(0.0, 'closet')
    (state, action), = ((state, action) for state, action in blocked.NEVER
                        if len(opened.transitions(state, action)) > 1)
    assert dict(opened.transitions(state, action))[state] == pytest.approx(blocked.SLIP)
    assert closed.transitions(state, RESET) == ((closed.start, 1.0),)


@thorough(shown_by=(
    'core/test_blocked.py::test_a_blocked_door_is_pushed_rarely_and_its_opening_is_noticed '
    'benchmarks/test_blocked_benchmark.py::test_the_flat_is_as_the_text_says'))
def test_no_pair_that_never_worked_takes_much(capsys: pytest.CaptureFixture) -> None:
    blocked.main(['--seeds', '1', '--steps', '12000', '--astray', '0'])
    one, together = (float(word.rstrip('%,')) for word in
                     capsys.readouterr().out.splitlines()[-1].split() if '%' in word)
    assert 0 < one <= 2 and together <= 5    # with what the first rediscovery takes
    blocked.main(['--seeds', '1', '--opens', 'closet', '--settle', '1000',
                  '--astray', '0'])
    told = capsys.readouterr().out
    assert told.startswith('closet: tried after ') and '20,000' not in told
