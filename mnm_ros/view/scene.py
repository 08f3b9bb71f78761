# SPDX-License-Identifier: Apache-2.0

"""What a map of states shows, wherever it is drawn: what each state is, and the transitions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from mnm_ros.core.knowledge.knowledge import Knowledge
from mnm_ros.core.model.counts import usual
from mnm_ros.core.model.policy import Policy
from mnm_ros.core.model.problem import RESET
from mnm_ros.view.telemetry import Telemetry

_MOST_UNMET = 2000    # places of states that have not been met, which are drawn


class KindStyle(NamedTuple):
    """
    How a kind of state, or another thing, is shown; ``core/knowledge`` says which are of which.

    The table of words has the name of each kind under ``kinds``, and sentences about a state of
    each kind under ``meanings``.

    :ivar colour, dark: on white and on a dark ground.
    :ivar mark, style: in a terminal, the style as rich has it.
    """

    colour: str
    dark: str
    mark: str
    style: str


KINDS = {
    'robot': KindStyle('#1f6fe0', '#5aa2ff', '@', 'bold reverse'),
    'home': KindStyle('#1f5fa8', '#5aa2ff', 'S', 'bold green'),
    'known': KindStyle('#1c7d54', '#2fae7c', 'o', 'green'),
    'doubted': KindStyle('#b5530f', '#e58a45', '!', 'bold yellow'),
    'certified': KindStyle('#1c7d54', '#2fae7c', '*', 'bold green'),
    'candidate': KindStyle('#946800', '#d9a313', '?', 'yellow'),
    'assumed': KindStyle('#6f7b88', '#8b97a3', '~', 'yellow'),
    'met': KindStyle('#6f7b88', '#8b97a3', '+', 'cyan'),
    'beyond': KindStyle('#6f7b88', '#8b97a3', '-', 'magenta'),
    'lost': KindStyle('#c93a32', '#ee6a62', 'x', 'bold red'),
    'wall': KindStyle('#3c4654', '#b9c4cf', '#', ''),
    'unmet': KindStyle('#6f7b88', '#8b97a3', '.', 'dim')}
"""All kinds, in the order of legends; where several states share a place, the first is shown."""

TRUSTED = ('doubted', 'certified', 'assumed')
"""The kinds by the trust in a policy, whose marks a report shows, too."""


def links(known: Knowledge, state: int) -> dict[int, tuple[float, int]]:
    """Return for each other state that followed its probability by the best action, and that."""
    found: dict[int, tuple[float, int]] = {}
    for action in known.counts.get(state, ()):
        for led in known.after(state, action) if action != RESET else ():
            if led.following != state:
                found[led.following] = max(
                    found.get(led.following, (0.0, 0)), (led.probability, action))
    return found


def steps(known: Knowledge, policy: Policy) -> Iterator[tuple[int, int, int | None]]:
    """
    Yield what a policy does first in each state but its target, and where that most often led.

    The state is None if the action was never tried.
    """
    for state in policy.states:
        action = policy.action(0, state)
        if state != policy.target:
            yield state, action, known.home if action == RESET else usual(
                known.next_states(state, action))


def kinds(heard: Telemetry) -> dict[int, str]:
    """Return what each state that is shown is, as ``KINDS`` has it."""
    # A map shows by itself where the robot has not been yet, and where it cannot be.
    unmet = heard.description.positions if (
        len(heard.description.positions) <= _MOST_UNMET and not heard.ground.image) else ()
    return {**dict.fromkeys(unmet, 'unmet'),
            **{state: kind.value for state, kind in heard.knowledge.kinds.items()}}


def doors(heard: Telemetry) -> tuple[tuple[float, float, bool], ...]:
    """
    Return x and y (m) of doors with a name, whether they are open, and of closed ways.

    A door is as the last change that was noticed there says, and before as moves have led; one
    that was never tried is left out. A way is closed that a change has blocked.
    """
    said = heard.description
    last = {said.door(event.change.state, event.change.action) or (
        event.change.state, event.change.action): event.change
        for event in heard.events if event.change and event.kind == 'change'}
    found = []
    for name, pairs in said.doors.items():
        change = last.get(name)
        led = [(change.state, change.after)] if change else [
            (state, nexts) for state, action in pairs
            if (nexts := heard.counts.get(state, {}).get(action))]
        if led:
            found.append(([state for state, _ in pairs], any(
                usual(nexts) not in (None, state) for state, nexts in led)))
    found += [([change.state, there], False) for key, change in last.items()
              if key not in said.doors and change.closed
              and (there := usual(change.before)) is not None]
    return tuple((*middle, is_open) for states, is_open in found
                 if (middle := _middle([said.positions[state] for state in states
                                        if state in said.positions])) is not None)


def _middle(places: Sequence[tuple[float, float]]) -> tuple[float, float] | None:
    """Return the middle of two places or more."""
    if len({*places}) < 2:
        return None
    x, y = (sum(along) / len(places) for along in zip(*places))
    return x, y
