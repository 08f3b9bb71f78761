# SPDX-License-Identifier: Apache-2.0

"""What has happened to the exploration, to the nodes around it, and to what they declare."""

from __future__ import annotations

from mnm_ros.core.progress.said.value import Nested, Pairs, Said, States


class _OfRound(Said):
    round: int    # noqa: A003


class _OfPair(_OfRound):
    state: int
    action: int


class _OfStates(_OfRound):
    states: States


class _EndedElsewhere(Said):
    state: int
    action: int
    end: int
    ends: States


class _Contradicted(Said):
    count: int
    pairs: Pairs


class WaitingForHome(Said):
    """The first RESET has not ended yet."""


class HomeFound(Said):
    """The first RESET has ended in this state."""

    state: int


class WarmStart(Said):
    """The exploration begins with the steps of a log."""

    steps: int


class NoWarmStart(Said):
    """The log is of another home."""

    state: int


class HypothesisFound(_OfRound):
    """The first hypothesis of a round is found; ``known`` counts its states."""

    known: int


class EndAdded(_EndedElsewhere):
    """An action ended where it was not declared to end; the end is declared from now on."""


class EndsAdded(EndAdded):
    """The same, and ``near`` ends that are as near are declared, too."""

    near: int


class DeclarationWithdrawn(_EndedElsewhere):
    """An action ended where it was not declared to end; nothing is declared of it any more."""


class DeclarationsWithdrawn(_Contradicted):
    """A new declaration contradicts ``count`` pairs that were executed: it is not taken there."""


class DeclarationsExtended(_Contradicted):
    """A new declaration contradicts ``count`` pairs: the ends that were seen are added."""


class ForbiddenPlayed(_OfRound):
    """A policy plays an action that is never to be commanded, so the next round begins."""

    next_round: int


class PairChanged(_OfPair):
    """An action leads elsewhere than before."""


class ActionChanged(_OfRound):
    """An action arrives less often, or more often, than before, wherever it is executed."""

    action: int


class HintRaised(_OfPair):
    """An action that nearly always worked has failed several times in a row."""

    failures: int


class HintWithdrawn(_OfPair):
    """The action of a hint works again."""


class WayOpen(_OfPair):
    """A test move has shown that a closed action leads on again."""


class WayStillClosed(_OfPair):
    """A test move has shown that a closed action is still blocked."""


class WaysClosed(Said):
    """These pairs are closed, and it is known when they are tried again."""

    pairs: Pairs


class RediscoveryTooLong(_OfRound):
    """The rediscovery exceeded its steps several times in a row, so the next round begins."""

    check_steps: int
    times: int
    next_round: int


class CheckRunsTooLong(_OfRound):
    """Too many of the last check-runs exceeded their steps, so the next round begins."""

    check_steps: int
    cut_off: int
    runs: int
    next_round: int


class MostHasChanged(_OfRound):
    """Most actions lead elsewhere than before, so the next round begins."""

    next_round: int


class ChangeTooLong(_OfRound):
    """A change is open for more steps than the world took to learn, so the next round begins."""

    steps: int
    next_round: int


class ProofsTooLong(ChangeTooLong):
    """The same where all that is left of the change is that policies prove that they work."""


class StatesAdded(_OfStates):
    """States became known."""


class StatesNearer(_OfStates):
    """States became known that were out of reach before a change."""


class StatesRecalled(StatesAdded):
    """The policies of these states, which a change had taken away, work as before."""


class StatesDeleted(_OfStates):
    """The policies of these states no longer reach them."""


class ToImproveAgain(_OfStates):
    """The proofs that these policies are nearly the best hold no more."""


class WaysReplaced(_OfStates):
    """Other policies lead to these states."""


class ProvenNearlyBest(_OfRound):
    """
    A policy is proven to be nearly the best.

    :ivar within: the part by which it takes at most more steps than the best.
    :ivar at_most: steps, for certain.
    :ivar likely: expected steps, as estimated from the counts.
    :ivar steps: that were made for the proof.
    """

    target: int
    within: float
    at_most: float
    likely: float
    steps: int


class BetterProvenNearlyBest(ProvenNearlyBest):
    """The same of a policy that replaces one of ``before`` expected steps, as estimated."""

    before: float


class ChangeRelearnt(Said):
    """Nothing contradicts the hypothesis any more."""


class SourceContradicts(Said):
    """A source reports other transitions than another one, of this pair last."""

    source: str
    reference: str
    state: int
    action: int


class SourceQuarantined(SourceContradicts):
    """The same of most other sources; its ``count`` transitions do not count any more."""

    count: int


class AtStep(Said):
    """A statement, and the step at which it was made."""

    step: int
    said: Nested


class InSteps(Said):
    """What reaching a goal took."""

    steps: int


class NodeEnding(Said):
    """The node of the explorer is ending."""


class GoesOn(Said):
    """The robot explores again."""


class Restarted(Said):
    """The exploration goes on from what was kept."""

    step: int


class NothingSaved(Said):
    """Nothing was written to the disk, and why."""

    said: Nested


class NothingKept(Said):
    """The explorer has no folder in which it keeps anything."""


class ReadingDisk(Said):
    """What is on the disk is being read, so nothing is written."""


class DiskTooSlow(Said):
    """The disk has not written in time."""


class NothingDeclared(Said):
    """No declaration holds any more."""


class DeclaredByRobotSide(Said):
    """The robot side declares where the actions of ``count`` states lead."""

    count: int


class DeclaredInFile(DeclaredByRobotSide):
    """The same, declared in a file."""

    file: str


class NeverCommanded(Said):
    """The same, and ``count`` pairs are never to be commanded."""

    said: Nested
    count: int


class SettingChanged(Said):
    """A parameter of a node has changed, from one value to another."""

    node: str
    setting: str
    before: str
    now: str


class TooManyCalls(Said):
    """More calls a second came by these topics and services than are served."""

    entries: str
