# SPDX-License-Identifier: Apache-2.0

"""
Values that say what has happened, what is being done, and why a policy is trusted or not.

The core makes no sentences: ``mnm_ros.view.sentences`` makes them from these values, by the tables
in ``config/words``. The name of a field says what it holds:

- ``state``, ``target``, ``end``: a state; ``states``, ``ends``: several;
- ``action``: an action, in ``state`` if there is such a field; ``pairs``: states and actions;
- ``said``: another value;
- other fields: a number, or the name of a source.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Annotated, Any, cast, ClassVar, Union

from mnm_ros.core.progress.json_values import maybe, reader_of, wrong

States = tuple[int, ...]
Pairs = tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class Said:
    """
    A value of which a sentence can be made.

    :cvar KINDS: all kinds of values by name, but for those that only have fields for others.
    """

    KINDS: ClassVar[dict[str, type[Said]]] = {}

    def __init_subclass__(cls) -> None:
        if not cls.__name__.startswith('_'):
            Said.KINDS[cls.__name__] = cls

    def to_plain(self) -> dict[str, Any]:
        """Return its name and its fields, for JSON."""
        return {'name': type(self).__name__, **{
            each.name: _plain(getattr(self, each.name)) for each in fields(self)}}


def _plain(found: Any) -> Any:
    return found.to_plain() if isinstance(found, Said) else (
        [_plain(each) for each in found] if isinstance(found, tuple) else found)


def read_said(what: str, found: Any) -> Said | None:
    """
    Read what ``to_plain`` has returned; None if its name is not known here.

    :raises ValueError: says which entry is wrong and what was expected.
    """
    if not isinstance(found, dict) or not isinstance(found.get('name'), str):
        raise wrong(what, found, 'a JSON object with a name')
    kind = Said.KINDS.get(found['name'])
    if kind is None:
        return None
    missing = [each.name for each in fields(kind) if each.name not in found]
    if missing:
        raise wrong(what, found, f'an entry "{missing[0]}"')
    reader: Callable[[str, Any], Said] = reader_of(cast(Any, kind))
    return reader(what, found)


def known_said(what: str, found: Any) -> Said:
    """Read the same of a name that is known; ValueError otherwise."""
    said = read_said(what, found)
    if said is None:
        raise wrong(what, found, 'a name that is known')
    return said


Nested = Annotated[Said, known_said]
maybe_said = maybe(read_said)
Reason = Union[str, Said]
"""Why it does not go on: a text is in the words of who has stopped it."""


@dataclass(frozen=True)
class InWords(Said):
    """A statement of a part of another package, in its own words."""

    words: str


def as_said(reason: Reason) -> Said | None:
    """Return a reason as a value; None for an empty text."""
    return reason if isinstance(reason, Said) else InWords(reason) if reason else None


@dataclass(frozen=True)
class InSteps(Said):
    """What reaching a goal took."""

    steps: int


@dataclass(frozen=True)
class NodeEnding(Said):
    """The node of the explorer is ending."""


@dataclass(frozen=True)
class GoesOn(Said):
    """The robot explores again."""


@dataclass(frozen=True)
class Restarted(Said):
    """The exploration goes on from what was kept."""

    step: int


@dataclass(frozen=True)
class NothingDeclared(Said):
    """No declaration holds any more."""


@dataclass(frozen=True)
class DeclaredByRobotSide(Said):
    """The robot side declares where the actions of ``count`` states lead."""

    count: int


@dataclass(frozen=True)
class DeclaredInFile(DeclaredByRobotSide):
    """The same, declared in a file."""

    file: str


@dataclass(frozen=True)
class NeverCommanded(Said):
    """The same, and ``count`` pairs are never to be commanded."""

    said: Nested
    count: int


@dataclass(frozen=True)
class SettingChanged(Said):
    """A parameter of a node has changed, from one value to another."""

    node: str
    setting: str
    before: str
    now: str


@dataclass(frozen=True)
class TooManyCalls(Said):
    """More calls a second came by these topics and services than are served."""

    entries: str


@dataclass(frozen=True)
class _OfRound(Said):
    round: int    # noqa: A003


@dataclass(frozen=True)
class _OfPair(_OfRound):
    state: int
    action: int


@dataclass(frozen=True)
class _OfStates(_OfRound):
    states: States


@dataclass(frozen=True)
class _EndedElsewhere(Said):
    state: int
    action: int
    end: int
    ends: States


@dataclass(frozen=True)
class _Contradicted(Said):
    count: int
    pairs: Pairs


# Events.

@dataclass(frozen=True)
class WaitingForHome(Said):
    """The first RESET has not ended yet."""


@dataclass(frozen=True)
class HomeFound(Said):
    """The first RESET has ended in this state."""

    state: int


@dataclass(frozen=True)
class WarmStart(Said):
    """The exploration begins with the steps of a log."""

    steps: int


@dataclass(frozen=True)
class NoWarmStart(Said):
    """The log is of another home."""

    state: int


@dataclass(frozen=True)
class HypothesisFound(_OfRound):
    """The first hypothesis of a round is found; ``known`` counts its states."""

    known: int


@dataclass(frozen=True)
class EndAdded(_EndedElsewhere):
    """An action ended where it was not declared to end; the end is declared from now on."""


@dataclass(frozen=True)
class EndsAdded(EndAdded):
    """The same, and ``near`` ends that are as near are declared, too."""

    near: int


@dataclass(frozen=True)
class DeclarationWithdrawn(_EndedElsewhere):
    """An action ended where it was not declared to end; nothing is declared of it any more."""


@dataclass(frozen=True)
class DeclarationsWithdrawn(_Contradicted):
    """A new declaration contradicts ``count`` pairs that were executed: it is not taken there."""


@dataclass(frozen=True)
class DeclarationsExtended(_Contradicted):
    """A new declaration contradicts ``count`` pairs: the ends that were seen are added."""


@dataclass(frozen=True)
class ForbiddenPlayed(_OfRound):
    """A policy plays an action that is never to be commanded, so the next round begins."""

    next_round: int


@dataclass(frozen=True)
class PairChanged(_OfPair):
    """An action leads elsewhere than before."""


@dataclass(frozen=True)
class ActionChanged(_OfRound):
    """An action arrives less often, or more often, than before, wherever it is executed."""

    action: int


@dataclass(frozen=True)
class HintRaised(_OfPair):
    """An action that nearly always worked has failed several times in a row."""

    failures: int


@dataclass(frozen=True)
class HintWithdrawn(_OfPair):
    """The action of a hint works again."""


@dataclass(frozen=True)
class WayOpen(_OfPair):
    """A test move has shown that a closed action leads on again."""


@dataclass(frozen=True)
class WayStillClosed(_OfPair):
    """A test move has shown that a closed action is still blocked."""


@dataclass(frozen=True)
class WaysClosed(Said):
    """These pairs are closed, and it is known when they are tried again."""

    pairs: Pairs


@dataclass(frozen=True)
class RediscoveryTooLong(_OfRound):
    """The rediscovery exceeded its steps several times in a row, so the next round begins."""

    check_steps: int
    times: int
    next_round: int


@dataclass(frozen=True)
class CheckRunsTooLong(_OfRound):
    """Too many of the last check-runs exceeded their steps, so the next round begins."""

    check_steps: int
    cut_off: int
    runs: int
    next_round: int


@dataclass(frozen=True)
class MostHasChanged(_OfRound):
    """Most actions lead elsewhere than before, so the next round begins."""

    next_round: int


@dataclass(frozen=True)
class ChangeTooLong(_OfRound):
    """A change is open for more steps than the world took to learn, so the next round begins."""

    steps: int
    next_round: int


@dataclass(frozen=True)
class StatesAdded(_OfStates):
    """States became known."""


@dataclass(frozen=True)
class StatesNearer(_OfStates):
    """States became known that were out of reach before a change."""


@dataclass(frozen=True)
class StatesRecalled(StatesAdded):
    """The policies of these states, which a change had taken away, work as before."""


@dataclass(frozen=True)
class StatesDeleted(_OfStates):
    """The policies of these states no longer reach them."""


@dataclass(frozen=True)
class ToImproveAgain(_OfStates):
    """The proofs that these policies are nearly the best hold no more."""


@dataclass(frozen=True)
class WayReplaced(_OfRound):
    """Another policy leads to the target."""

    target: int


@dataclass(frozen=True)
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


@dataclass(frozen=True)
class BetterProvenNearlyBest(ProvenNearlyBest):
    """The same of a policy that replaces one of ``before`` expected steps, as estimated."""

    before: float


@dataclass(frozen=True)
class ChangeRelearnt(Said):
    """Nothing contradicts the hypothesis any more."""


@dataclass(frozen=True)
class SourceContradicts(Said):
    """A source reports other transitions than another one, of this pair last."""

    source: str
    reference: str
    state: int
    action: int


@dataclass(frozen=True)
class SourceQuarantined(SourceContradicts):
    """The same of most other sources; its ``count`` transitions do not count any more."""

    count: int


@dataclass(frozen=True)
class AtStep(Said):
    """A statement, and the step at which it was made."""

    step: int
    said: Nested


# Why it does not go on.

@dataclass(frozen=True)
class Because(Said):
    """The exploration does not go on; ``what`` it does meanwhile, and why."""

    what: str
    said: Nested


@dataclass(frozen=True)
class ExploreCalled(Said):
    """The service ``explore`` was called to pause. ``PausedBy`` says by whom, once it is known."""


@dataclass(frozen=True)
class ExploreCalledBefore(Said):
    """The exploration has been paused since before the node was started again."""


@dataclass(frozen=True)
class PausedBy(Said):
    """Somebody has the exploration paused: a page, a command, or another node."""

    by: str


@dataclass(frozen=True)
class PausedToGoHomeBy(PausedBy):
    """The same, so that the robot goes home."""


@dataclass(frozen=True)
class BatteryLow(Said):
    """The battery is below ``low`` percent; the robot rests until it has ``until``."""

    percent: int
    low: float
    until: float


@dataclass(frozen=True)
class BatteryCharging(BatteryLow):
    """The battery was below ``low`` percent, and has not reached ``until`` yet."""


@dataclass(frozen=True)
class OutsideHours(Said):
    """It is not the time of day to explore in; that begins at ``until``."""

    between: str
    until: str


@dataclass(frozen=True)
class OutsideHoursToo(OutsideHours):
    """The same, beside what is wrong with the battery."""

    said: Nested


@dataclass(frozen=True)
class WorkComesFirst(Said):
    """The robot rests for goals, until there was none for ``after`` seconds."""

    after: float


@dataclass(frozen=True)
class MaxSteps(Said):
    """The steps that are allowed have been made."""

    steps: int


@dataclass(frozen=True)
class MaxDuration(Said):
    """The time that is allowed is over."""


@dataclass(frozen=True)
class TooManyStates(Said):
    """More states were met than ``most``, which is allowed."""

    count: int
    most: int


@dataclass(frozen=True)
class LoadedFromDisk(Said):
    """Somebody has loaded what was on the disk."""


@dataclass(frozen=True)
class NodeDeactivated(Said):
    """The node of the explorer was deactivated."""


@dataclass(frozen=True)
class HomeFailed(Said):
    """The service ``return_home`` has failed; ``why`` in the words of the robot side."""

    times: int
    why: str


@dataclass(frozen=True)
class HomeMissed(Said):
    """RESET led to a state, several times in a row, and not home, which is ``target``."""

    state: int
    target: int
    times: int


@dataclass(frozen=True)
class LastHomeMissed(Said):
    """The last RESET led to a state, and not home, which is ``target``."""

    state: int
    target: int


@dataclass(frozen=True)
class GoalUnderWay(Said):
    """The robot is on the way to a goal."""

    target: int


@dataclass(frozen=True)
class StaysAtGoal(Said):
    """The robot stays at a goal for some seconds."""

    target: int
    seconds: float


# Why a goal was refused, or is lost.

@dataclass(frozen=True)
class NoPolicyYet(Said):
    """No policy for the goal was heard, before the first hypothesis: one may come any time."""


@dataclass(frozen=True)
class NoPoliciesHeard(NoPolicyYet):
    """The same, and nothing was heard of an explorer at all."""


@dataclass(frozen=True)
class NoPolicy(Said):
    """The hypothesis has no policy for the goal."""


@dataclass(frozen=True)
class RobotRests(Said):
    """The explorer lets the robot rest, and why."""

    said: Nested


@dataclass(frozen=True)
class NoNavigator(Said):
    """There is no navigator, as a client of one says."""


@dataclass(frozen=True)
class NavigatorSilent(Said):
    """The navigator has not answered for long."""


@dataclass(frozen=True)
class GoalForgotten(Said):
    """The navigator does not know a goal any more that it has accepted."""


@dataclass(frozen=True)
class NoNames(Said):
    """No robot side has published the names of states, of which the goal is one."""


# Activities.

@dataclass(frozen=True)
class GoingHomeFirst(Said):
    """The first RESET is being executed."""


@dataclass(frozen=True)
class Sampling(Said):
    """The known states are sampled."""


@dataclass(frozen=True)
class SamplingStates(Said):
    """So many states are sampled; so many executions are lacking."""

    count: int
    lacking: int


@dataclass(frozen=True)
class SamplingFor(Said):
    """The way to a state is sampled, to certify its policy."""

    target: int
    lacking: int


@dataclass(frozen=True)
class Testing(Said):
    """A policy is tested."""


@dataclass(frozen=True)
class TestingPolicy(Said):
    """The policy to this state is tested."""

    target: int


@dataclass(frozen=True)
class TestingAttempts(TestingPolicy):
    """The same, with the attempts so far."""

    arrived: int
    played: int


@dataclass(frozen=True)
class InStream(Said):
    """The activity of one of several streams."""

    said: Nested
    stream: int
    streams: int


@dataclass(frozen=True)
class Rediscovering(Said):
    """The activity of a rediscovery."""

    number: int
    said: Nested


@dataclass(frozen=True)
class CheckingPolicy(Said):
    """A policy is attempted."""

    target: int


@dataclass(frozen=True)
class CheckingAgainst(CheckingPolicy):
    """The same, with the evidence against the policy, in nats."""

    against: float
    threshold: float


@dataclass(frozen=True)
class CheckingProof(CheckingAgainst):
    """The same, with the evidence for the policy, in nats."""

    evidence: float
    enough: float


@dataclass(frozen=True)
class InCheckRun(Said):
    """The activity of the rediscovery of a check-run."""

    said: Nested


@dataclass(frozen=True)
class CheckRunAttempts(TestingAttempts):
    """A check-run attempts a policy; ``left`` policies are to be attempted."""

    left: int


@dataclass(frozen=True)
class Improving(Said):
    """A policy of about ``likely`` steps is improved; none takes less than ``least``."""

    target: int
    likely: float
    least: float


# Why a policy is trusted, or not.

@dataclass(frozen=True)
class NotProvenSince(Said):
    """A change was noticed, and the policy was not proven since."""


@dataclass(frozen=True)
class KeptSince(Said):
    """The policy was proven before a change, and nothing of its actions speaks against it."""


@dataclass(frozen=True)
class Hinted(Said):
    """A hint concerns the policy, see ``HintRaised``."""

    state: int
    action: int
    failures: int


@dataclass(frozen=True)
class CertifiedBefore(Said):
    """The policy was certified, and what was seen since speaks against it."""


@dataclass(frozen=True)
class OfReset(Said):
    """RESET leads there."""


@dataclass(frozen=True)
class CertifiedSoFar(Said):
    """The policy is certified while the first hypothesis is built."""


@dataclass(frozen=True)
class BestSoFar(Said):
    """No policy is better as estimated from the counts."""


@dataclass(frozen=True)
class AsDeclared(Said):
    """The policy rests on what is declared."""


@dataclass(frozen=True)
class OfHypothesis(_OfRound):
    """The policy is of the hypothesis of a round."""


@dataclass(frozen=True)
class OfHypothesisNearlyBest(OfHypothesis):
    """The same, and it is proven to be nearly the best."""

    within: float
