# SPDX-License-Identifier: Apache-2.0

"""The least steps to tell that no state is missing are those that can be worked out by hand."""

from __future__ import annotations

from dataclasses import replace
import math

from alternatives import Search
from flows import Flows
from growth_truth import Truth
from growth_worlds import shipped
from lower_bound import lower_bound, main, nats_of_any, nats_of_disco, RULING_OUT
from mnm_ros.core.presets import new_base
from mnm_ros.simulation.cmp import TableCmp
import numpy as np
import pytest
from references import Configuration


def test_one_action_that_stays() -> None:
    """What follows it with chance 1/4 is within 4 steps, so that 3/4 has to be told from 1."""
    flows, gap = lower_bound(Truth(TableCmp(0, 1, {}), 4.0), 7.0, 5, 0.02)
    assert flows.least(7.0)[0] == pytest.approx(7 / math.log(4 / 3), rel=1e-3) and gap <= 0.02
    assert flows.least(14.0)[0] == pytest.approx(14 / math.log(4 / 3), rel=1e-3)


def test_one_action_that_slips() -> None:
    """
    From home it stays, or leads to a state 2 steps away, which is beyond ``L = 1.5``.

    The new state is 1.5 steps away if ``1.5 q + 2.5 r = 0.5`` for the chances ``q`` and ``r`` of
    these. ``KL`` is least with ``q = 1/6`` and ``r = 1/10``: half of ``log 15``. Every other
    execution has to be followed by a RESET, but the last.
    """
    truth = Truth(TableCmp(0, 1, {(0, 0): ((0, 0.5), (1, 0.5))}), 1.5)
    executions = 7 / (math.log(15) / 2)
    first, _ = lower_bound(truth, 7.0, 0, 0.02)    # with q = r = 1/8
    assert first.least(7.0)[0] == pytest.approx(1.5 * 7 / math.log(4) - 1, rel=2e-3)
    flows, gap = lower_bound(truth, 7.0, 20, 0.002)
    assert flows.least(7.0)[0] == pytest.approx(1.5 * executions - 1, rel=2e-3) and gap <= 0.002


def test_evidence_is_that_of_alternatives_in_which_the_state_is_within_reach() -> None:
    truth = Truth(shipped('two_rooms').cmp, 4.0)
    search, flows = Search(truth), Flows(truth)
    first = search.first()
    assert all(search.is_one(first, number) for number in range(search.pairs))
    flows.demand(first, range(search.pairs))
    steps, executions = flows.least(7.0)
    assert first.nats(executions)[:search.pairs].min() == pytest.approx(7.0)
    assert executions.sum() < steps
    found = search.least(executions, 60)
    told = found.nats(executions)
    assert told.min() < 3 and (told <= first.nats(executions) + 1e-9).all()
    checked = [search.is_one(found, number) for number in range(len(told))]
    assert np.mean(checked) > 0.8 and np.allclose(found.rows.sum(axis=2), 1)
    rows = first.rows.copy()
    rows[:, :, 0] += rows[:, :, -1] / 2
    rows[:, :, -1] /= 2
    far = replace(first, rows=rows)    # twice as far behind its pair
    assert not any(search.is_one(far, number) for number in range(search.pairs))


def test_the_nats_of_disco_are_those_of_its_planner() -> None:
    configuration = Configuration()
    base = new_base(configuration.alone(2), 0, 0)
    delta = base._planner._delta    # type: ignore[attr-defined]
    assert delta == pytest.approx(RULING_OUT * configuration.delta_1)
    assert nats_of_disco(9, configuration.delta_1) == pytest.approx(
        -math.log(delta * 7 / 16))
    assert nats_of_any(0.5) == 0 < nats_of_any(0.1) < math.log(10)


def test_a_run_takes_no_less(capsys: pytest.CaptureFixture) -> None:
    assert main(['--worlds', 'corridor', '--seeds', '2', '--jobs', '1']) == 0
    row = capsys.readouterr().out.splitlines()[-1].split()
    least, steps = (float(row[place].replace(',', '')) for place in (4, 9))
    assert row[0] == 'corridor' and 40 < least < steps and float(row[10]) > 2
