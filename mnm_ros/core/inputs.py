# SPDX-License-Identifier: Apache-2.0

"""
The inputs of an exploration: the same inputs lead to the same place, bit for bit.

An input that is no observation may come while an action is asked for and not observed yet; it is
part of the input which one, as that matters for what follows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, NamedTuple, TYPE_CHECKING, Union

from mnm_ros.core.model.declaration import Declaration
from mnm_ros.core.model.policy import Hypothesis
from mnm_ros.core.model.problem import RESET
from mnm_ros.core.progress.events import Event

if TYPE_CHECKING:    # it needs numpy, which takes long to import
    from mnm_ros.core.model.counts import Pair

ROBOT = 'robot'
"""The source of what a robot without a name has done, as its robot side reports it."""


@dataclass(frozen=True, slots=True)
class Observation:
    """
    A step: ``action`` has led to ``state``.

    :ivar robot: that has made it, if there are several; else empty.
    """

    action: int
    state: int
    robot: str = ''

    @property
    def source(self) -> str:
        """Return the name of the robot side that has reported the step."""
        return self.robot or ROBOT


@dataclass(frozen=True, slots=True)
class Relocation:
    """
    The robot is in ``state``, and no action has led there.

    :ivar asked: the action that was asked for and will not be observed any more; None if none was.
    """

    state: int
    asked: int | None = None
    robot: str = ''


@dataclass(frozen=True, slots=True)
class Interruption:
    """The robot may be anywhere; ``asked`` as of a ``Relocation``."""

    asked: int | None = None
    robot: str = ''


@dataclass(frozen=True, slots=True)
class WorkObservation:
    """
    Somebody else had ``action`` executed in ``state``, and it has led to ``after``.

    The exploration stays where it is, paused or not. The execution counts in every phase: for the
    streams, which learn from it as from each other, or the rediscovery under way, the detectors of
    pairs, ``Reach``, hints, patrol and the counts. The sets, bets and likelihoods of a pair are
    valid at all times, for its draws in the order in which they are made, whatever the past makes
    one choose. So goals may decide what is executed, go where it seems best and end after luck;
    what comes of it is a draw like any other. Three things must hold:

    - Whether an execution is reported is decided before its end. One that was broken off is
      reported as that, and the same is assumed of it as of those of the explorer
      (``docs/explanation/algorithm.md``, *The promise*).
    - Who chooses knows nothing of what comes but by the past: who turns back before a door that is
      seen to be closed teaches that it is open.
    - Attempts, which are whole runs of a policy, are those alone that the explorer begins. One
      that a goal breaks off counts as the worst for the policy, or for an alarm as the best, so
      that no goal chooses attempts by how they go.

    With ``ucb_explore`` work counts for discovery and optimism, as do the steps of other streams;
    its tests, of attempts, know nothing of it. Streams that learn from their ``own`` steps (preset
    ``paper``) and the checks ``hoeffding`` leave it out. It is no step: neither of a quantum nor
    of ``W_r``.

    Several robots may report nothing of the kind: what they execute at the same time would
    come in the order in which it ends, and not in that in which it began, as ``Fleet`` takes it.
    What takes longer may well be what leads elsewhere.

    :ivar after: None if the step was broken off.
    :ivar asked: the action that was asked for, and still is; None if none was.
    :ivar robot: that has made it, if there are several; else empty.
    :ivar node: that has reported it, if that was not the robot side; else empty.
    """

    state: int
    action: int
    after: int | None
    asked: int | None = None
    robot: str = ''
    node: str = ''

    @property
    def source(self) -> str:
        """Return the name of the node or of the robot side that has reported the step."""
        return self.node or self.robot or ROBOT


@dataclass(frozen=True, slots=True)
class Preference:
    """
    Somebody wants to go to ``state``: what that takes is certified before other things.

    A doubted policy to the state is tried soon. The exploration stays where it is. The choice of
    the next action has no influence on the promise.

    :ivar asked: the action that was asked for, and still is; None if none was.
    """

    state: int
    asked: int | None = None
    robot: ClassVar[str] = ''


@dataclass(frozen=True, slots=True)
class DeclarationInput:
    """
    It was declared where actions may lead.

    :ivar asked: the action that was asked for, and still is; None if none was.
    """

    declaration: Declaration
    asked: int | None = None
    robot: ClassVar[str] = ''


@dataclass(frozen=True, slots=True)
class LookInput:
    """
    It is time for a test move at a closed way: ``action`` in ``state``.

    From the first one on, ways that have closed are not tried until it comes: the exploration
    has no clock. The choice of the next action has no influence on the promise.

    :ivar state: None for all that are closed, or for none.
    :ivar action: with no state, RESET for no test move: it only announces that others follow.
    :ivar asked: the action that was asked for, and still is; None if none was.
    """

    state: int | None = None
    action: int = 0
    asked: int | None = None
    robot: ClassVar[str] = ''

    @property
    def pair(self) -> Pair | None:
        """Return the closed pair to test; None for all of them, or for none."""
        return None if self.state is None else (self.state, self.action)

    @property
    def only_announces(self) -> bool:
        """Return whether no test move is asked for."""
        return self.state is None and self.action == RESET


@dataclass(frozen=True, slots=True)
class ImproveInput:
    """
    Somebody wants a policy to ``state`` that takes at most ``1 + within`` times the least.

    From then on two of three steps of the checks are for that until it is proven, at rest. This is
    repeated after each change, and waits for a policy if there is none. What is executed next has
    no influence on the promise.

    :ivar state: None if no policy is to be improved any more.
    :ivar asked: the action that was asked for, and still is; None if none was.
    """

    state: int | None
    within: float
    asked: int | None = None
    robot: ClassVar[str] = ''


Wish = Union[Preference, LookInput, ImproveInput]
"""Inputs by which people say what is to be done next; the promise does not depend on them."""

Input = Union[Observation, Relocation, Interruption, WorkObservation, DeclarationInput, Wish]

PLACING = (Observation, Relocation, Interruption)
"""Those that say where the robot is; with all others it stays, and so does what was asked for."""


class Update(NamedTuple):
    """
    An input that an exploration has taken, and what has come of it.

    :ivar events: the decisions since the last input.
    :ivar outdated: the pairs that lead elsewhere than before; None is any state, or action.
    :ivar revision: the hypothesis if it is another than before.
    """

    input: Input    # noqa: A003
    events: tuple[Event, ...] = ()
    outdated: tuple[tuple[int | None, int | None], ...] = ()
    revision: Hypothesis | None = None
