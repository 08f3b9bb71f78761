# SPDX-License-Identifier: Apache-2.0

"""What a map of states shows, on the page and in RViz alike: what leads where, and a policy."""

from __future__ import annotations

from collections.abc import Iterator

from mnm_ros.core.exploration import Exploration
from mnm_ros.core.model.policy import Policy
from mnm_ros.core.model.problem import RESET
from mnm_ros.view.heard import Heard

_MOST_UNMET = 2000    # places of states that have not been met, which are drawn

Explored = Exploration | Heard


def links(explored: Explored, state: int) -> dict[int, tuple[float, int]]:
    """Return for each other state that followed its probability by the best action, and that."""
    led = list(explored.successors(state))
    tried: dict[int, int] = {}
    for action, _, count in led:
        tried[action] = tried.get(action, 0) + count
    found: dict[int, tuple[float, int]] = {}
    for action, after, count in led:
        if after != state:
            found[after] = max(found.get(after, (0.0, 0)), (count / tried[action], action))
    return found


def steps(explored: Explored, policy: Policy) -> Iterator[tuple[int, int, int | None]]:
    """
    Yield what a policy does first in each state but its target, and where that most often led.

    The state is None if the action was never tried.
    """
    for state in policy.states:
        action = policy.action(0, state)
        following = {after: count for played, after, count in explored.successors(state)
                     if played == action}
        likely = max(following, key=following.__getitem__, default=None)
        if state != policy.target:
            yield state, action, explored.home if action == RESET else likely


def kinds(heard: Heard) -> dict[int, str]:
    """Return what each state that is shown is: known, candidate, lost, met or unmet."""
    found: dict[int, str] = {}
    # A map shows by itself where the robot has not been yet, and where it cannot be.
    if len(heard.description.positions) <= _MOST_UNMET and not heard.ground.image:
        found.update(dict.fromkeys(heard.description.positions, 'unmet'))
    home = () if heard.home is None else (heard.home,)
    found.update(dict.fromkeys((*heard.seen, *home, *heard.occupied), 'met'))
    found.update(dict.fromkeys(heard.activity.candidates, 'candidate'))
    found.update(dict.fromkeys(heard.activity.lost, 'lost'))
    found.update(dict.fromkeys(heard.known, 'known'))
    return found
