# SPDX-License-Identifier: Apache-2.0

"""The benchmark of each kind of change."""

from __future__ import annotations

from dataclasses import replace

import changes
from changes import FAMILIES, main
from mnm_ros.simulation.ground_truth import reachable_states
import pytest
from tiers import strength


def test_the_table(
        capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    family = changes.FAMILIES['closes']
    monkeypatch.setitem(changes.FAMILIES, 'closes', replace(
        family, until=strength((1_500,), family.until), tail=strength(600, family.tail),
        radius=strength(3.0, family.radius)))
    assert main(['--families', 'closes', '--seeds', '1', '--jobs', '1']) == 0
    head, row, verdict = capsys.readouterr().out.splitlines()
    assert head.split()[:4] == ['seeds', 'steps', 'most', 'restart'] and 'met' in verdict
    name, seeds, steps, _, restart, ratio, *_ = row.split()
    assert (name, seeds) == ('closes', '1') and 0 < int(steps) < int(restart)
    assert float(ratio) == pytest.approx(int(steps) / int(restart), abs=0.005)


@pytest.mark.parametrize('name', FAMILIES)
def test_worlds_change_and_home_stays(name: str) -> None:
    world = FAMILIES[name].world(name)
    assert len(world.settings) == len(FAMILIES[name].until) + 1
    tables = [{(state, action): [*setting.cmp.transitions(state, action)]
               for state in reachable_states(setting.cmp, 100.0)
               for action in range(setting.cmp.actions)} for setting in world.settings]
    assert all(before != after for before, after in zip(tables, tables[1:]))
