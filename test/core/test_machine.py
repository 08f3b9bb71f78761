# SPDX-License-Identifier: Apache-2.0

"""The state machines and their diagrams."""

from __future__ import annotations

from pathlib import Path
import runpy

from mnm_ros.core import RunState
from mnm_ros.core.disco.disco import DISCO_TRANSITIONS, DiscoPhase
from mnm_ros.core.mnm.mnm import MNM_TRANSITIONS
from mnm_ros.core.mnm.phase import MnmState
from mnm_ros.core.paper.ucb_explore import UCB_TRANSITIONS, UcbPhase
from mnm_ros.core.task.step_task import machine_of, PhaseMachine, RUN_TRANSITIONS, Table
import pytest
from transitions import MachineError

DOCS = Path(__file__).parents[2] / 'docs' / 'explanation'
TABLES: tuple[tuple[Table, RunState | MnmState | UcbPhase | DiscoPhase], ...] = (
    (RUN_TRANSITIONS, RunState.WAITING_FOR_ROBOT), (MNM_TRANSITIONS, MnmState.HOMING),
    (UCB_TRANSITIONS, UcbPhase.DISCOVERY), (DISCO_TRANSITIONS, DiscoPhase.SAMPLING))


@pytest.mark.parametrize(('table', 'initial'), TABLES)
def test_each_trigger_works_where_the_table_says_and_nowhere_else(
        table: Table, initial: RunState) -> None:
    allowed = {(trigger, source): destination for trigger, source, destination in table}

    class Moved(PhaseMachine):
        _machine = machine_of(table)

    for trigger in {row[0] for row in table}:
        for source in type(initial):
            machine = Moved()
            machine.state = source
            if (trigger, source) in allowed:
                machine.trigger(trigger)
                assert machine.state is allowed[trigger, source]
            else:
                with pytest.raises(MachineError):
                    machine.trigger(trigger)
                assert machine.state is source


def test_the_documentation_shows_the_diagrams_as_they_are(
        capsys: pytest.CaptureFixture[str]) -> None:
    runpy.run_module('mnm_ros.core', run_name='__main__')
    diagrams = capsys.readouterr().out.strip().split('\n\n')
    assert len(diagrams) == 4
    text = ''.join((DOCS / name).read_text(encoding='utf-8')
                   for name in ('algorithm.md', 'disco.md'))
    for diagram in diagrams:
        assert diagram in text
