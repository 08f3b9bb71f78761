# SPDX-License-Identifier: Apache-2.0

"""State machines from one readable table, on the `transitions` package."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import Enum

from transitions import Machine

Table = Sequence[tuple[str, Enum, Enum]]
"""Rows of (trigger, source, destination)."""


class Phased:
    """
    An object whose ``state`` moves along a table of transitions and no other way.

    A trigger that the table does not allow in the present state raises
    ``transitions.MachineError`` and changes nothing.
    """

    state: Enum
    trigger: Callable[[str], bool]

    def _start_machine(self, table: Table, initial: Enum) -> None:
        machine = Machine(
            model=self, states=type(initial), initial=initial, auto_transitions=False)
        for trigger, source, destination in table:
            machine.add_transition(trigger, source, destination)


def diagram(table: Table, initial: Enum) -> str:
    """Return the table as a Mermaid state diagram."""
    rows = [f'    {source.name} --> {destination.name}: {trigger}'
            for trigger, source, destination in table]
    return '\n'.join(['stateDiagram-v2', f'    [*] --> {initial.name}', *rows])
