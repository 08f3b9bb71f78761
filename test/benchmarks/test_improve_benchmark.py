# SPDX-License-Identifier: Apache-2.0

"""The steps to a proof are told, and what it gains by the truth."""

from __future__ import annotations

import improve
import pytest
from tiers import thorough


@thorough(shown_by='core/test_improve.py::test_a_policy_becomes_nearly_the_best_and_that_is_right '
                   'benchmarks/test_benchmark_arguments.py::test_a_least_value')
def test_what_is_proven_is_told_and_right(capsys: pytest.CaptureFixture) -> None:
    improve.main(['--seeds', '1', '--worlds', 'flat', '--within', '0.9'])
    told, means = capsys.readouterr().out.splitlines()
    assert told.startswith('flat, seed 0: 3') and '; 1 proven after ' in told
    assert told.endswith(' more, 0 wrong') and 'best 7.778' in means
