"""When the next tick is due if a driver sets the pace, by answering each pose with a command."""

from __future__ import annotations

_PATIENCE = 0.05    # s, without a command until time goes on by itself
_REST = 0.002       # s, without a command until none is under way any more
_EVERY = 200        # ticks between two looks whether more than one command is under way


class Lockstep:
    """Waits for one command per tick.

    A command that answers no pose, or answers late, would stay one too many for ever: each
    command would lead to a tick, each tick to a pose, each pose to a command, and the robot
    would be driven by what its driver saw several ticks ago. So, now and then and after every
    wait in vain, commands lead to no tick until none has come for 2 ms.

    due: s on the clock of ``now``, when the next tick is due; later calls move it.
    """

    def __init__(self, now: float) -> None:
        self.due = now + _PATIENCE
        self._ticks = 0
        self._in_vain = True
        self._settling = False

    def ticked(self, now: float, patience: float = _PATIENCE) -> None:
        """Wait for a command from ``now`` on, ``patience`` seconds at most."""
        self._ticks += 1
        self._settling = self._in_vain or self._ticks % _EVERY == 0
        self._in_vain = True
        self.due = now + patience

    def commanded(self, now: float) -> None:
        """Take note of a command."""
        self._in_vain = False
        self.due = now + _REST if self._settling else now
