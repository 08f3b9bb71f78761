# SPDX-License-Identifier: Apache-2.0

"""The pace that a driver sets, with commands that are late, superfluous or missing."""

from __future__ import annotations

from heapq import heappop, heappush

from mnm_ros.simulation.diff_drive import Lockstep
import pytest

TRIP = 0.0002    # s, of a pose to the driver or of a command back


class Line:
    """A simulator in lockstep and a driver that answers each pose, on a clock of their own."""

    def __init__(self) -> None:
        self.now = 0.0
        self.lockstep = Lockstep(self.now)
        self.arriving: list[float] = []    # heap of when commands arrive
        self.ticks: list[float] = []       # when
        self.silent = False

    def run(self, ticks: int) -> None:
        for _ in range(ticks):
            while self.arriving and self.arriving[0] <= max(self.lockstep.due, self.now):
                self.now = heappop(self.arriving)
                self.lockstep.commanded(self.now)
                if self.lockstep.due <= self.now:
                    break
            self.now = max(self.now, self.lockstep.due)
            self.ticks.append(self.now)
            if not self.silent:
                heappush(self.arriving, self.now + 2 * TRIP)
            self.lockstep.ticked(self.now)


def test_one_tick_per_command() -> None:
    line = Line()
    line.run(100)
    gaps = [b - a for a, b in zip(line.ticks[2:], line.ticks[3:])]
    assert line.ticks[0] == 0.05
    assert max(gaps) < 2 * TRIP + 1e-9


def test_goes_on_without_commands() -> None:
    line = Line()
    line.silent = True
    line.run(10)
    assert line.ticks == pytest.approx([0.05 * n for n in range(1, 11)])
    line.silent = False
    line.run(20)
    assert line.ticks[-1] - line.ticks[-2] < 2 * TRIP + 1e-9


def test_superfluous_commands_do_not_stay() -> None:
    line = Line()
    line.run(50)
    for _ in range(5):
        heappush(line.arriving, line.now + TRIP)
    line.run(30)
    assert len(line.arriving) == 6, 'each leads to a tick and to another command'
    line.run(200)
    assert len(line.arriving) == 1


def test_late_answers_do_not_stay() -> None:
    """The driver stalls for three waits, then answers all that it has received."""
    line = Line()
    line.run(50)
    line.arriving[:] = [line.now + 0.16] * 4
    line.silent = True
    line.run(3)
    line.silent = False
    line.run(2)
    assert len(line.arriving) == 1
