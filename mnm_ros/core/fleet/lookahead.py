# SPDX-License-Identifier: Apache-2.0

"""What an exploration will ask for next, if the world goes on as it has."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from mnm_ros.core.mnm.base import FEW_STATES
from mnm_ros.core.mnm.mnm import Mnm
from mnm_ros.core.model.counts import Pair
from mnm_ros.core.model.problem import RESET
import numpy as np


def look_ahead(mnm: Mnm, here: int | None, steps: int,
               ready: Mapping[Pair, Sequence[int | None]],
               recent: Mapping[Pair, Sequence[int]],
               rng: np.random.Generator) -> tuple[dict[Pair, list[int]], bool]:
    """
    Return in which of the next steps each pair is executed, and whether a plan has ended it.

    They lead where it is known that they will, and then to what has followed lately. It ends early
    where a plan would take long.

    :param mnm: what is led through them.
    :param here: where the robot is; None if that is not known.
    :param steps: how many, at most.
    :param ready: what follows next, by pair, as far as that is known.
    :param recent: what has followed a pair lately.
    :param rng: draws what is not known.
    """
    assert mnm.home is not None
    asked: dict[Pair, list[int]] = {}
    for step in range(steps):
        action, state = mnm.next_action(), mnm.home
        if action != RESET and here is not None:
            pair = here, action
            known, seen = ready.get(pair, ()), recent.get(pair)
            turns = asked.setdefault(pair, [])
            place = len(turns)
            turns.append(step)
            drawn = seen[int(rng.random() * len(seen))] if seen else here
            known_state = known[place] if place < len(known) else None
            state = drawn if known_state is None else known_state
        if mnm.may_plan(action, state) and _many(mnm):    # the quicker question first
            return asked, True
        mnm.observe(action, state)
        here = state
    return asked, False


def _many(mnm: Mnm) -> bool:
    active = mnm.active
    return active is not None and len(active.policies) + len(active.candidates) > 2 * FEW_STATES
