# SPDX-License-Identifier: Apache-2.0

"""What counts as being at home after a RESET."""

from __future__ import annotations

from mnm_ros.core.model.problem import RESET


class Homing:
    """
    Confirms that RESET has led home, and counts the times when it has not.

    Home is the state in which the first RESET ends. A later RESET that ends elsewhere has
    missed home: it is no step of the algorithm, and RESET is played again.

    :param home: the home state; None to learn it from the first RESET.
    :ivar home: the home state; None until it is known.
    :ivar misses: how often RESET has missed home, in all.
    :ivar misses_in_a_row: how often it has done so since a step last went as it should.
    """

    def __init__(self, home: int | None = None) -> None:
        self.home = home
        self.misses = 0
        self.misses_in_a_row = 0

    def missed(self, action: int, state: int) -> bool:
        """Take note of a step; return whether it was a RESET that has missed home."""
        if action == RESET and self.home is None:
            self.home = state
        if action != RESET or state == self.home:
            self.misses_in_a_row = 0
            return False
        self.misses += 1
        self.misses_in_a_row += 1
        return True
