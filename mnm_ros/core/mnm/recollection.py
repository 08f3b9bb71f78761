# SPDX-License-Identifier: Apache-2.0

"""What an exploration remembers of another one in the same CMP."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Optional

Step = tuple[int, int, Optional[int]]
"""State, action and next state; None for a step that was broken off."""


@dataclass(frozen=True)
class Recollection:
    """
    Transitions that were made before an exploration began.

    :ivar home: where RESET has led.
    :ivar steps: in the order in which they were made, RESETs left out.
    """

    home: int
    steps: tuple[Step, ...]
