# SPDX-License-Identifier: Apache-2.0

"""How far a policy may be trusted, and how the topic ``trust`` says so."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
import json
from typing import Annotated, Any, Union

from mnm_ros.core.model.policy import Policy
from mnm_ros.core.progress.json_values import (
    by_state,
    integer,
    listed,
    load,
    read_object,
    reader_of,
    wrong,
)
from mnm_ros.core.progress.said import maybe_said, Said


class Trust(Enum):
    """The degrees of trust in a policy, from the most to the least."""

    PROVEN = 'proven'          # of a hypothesis; the whole promise holds
    CERTIFIED = 'certified'    # at most (1 + epsilon) L, proven; the search for states goes on
    ASSUMED = 'assumed'        # by too few samples; nothing is promised
    DOUBTED = 'doubted'        # either of these before, and not since a change that concerns it
    KEPT = 'kept'              # proven before a change that nothing on its way has shown

    @property
    def rank(self) -> int:
        """Return its place, 0 for the most; what is kept is used like what is certified."""
        return LEAST.index(Trust.CERTIFIED if self is Trust.KEPT else self)


LEAST = (Trust.PROVEN, Trust.CERTIFIED, Trust.ASSUMED, Trust.DOUBTED)
"""The trust that may be asked for at least, by its rank."""


@dataclass(frozen=True)
class PolicyTrust:
    """
    How far the policy to a state may be trusted.

    :ivar expected_steps: if the counts were the truth; None where nothing is known.
    :ivar at_most_steps: expected steps that it takes at most, if ``trust`` holds; else None.
    :ivar since_step: of the exploration, when this was first said of the state.
    :ivar why: one sentence for people, once it is published; the core leaves it empty.
    :ivar said: the same as a value; None if that was not published.
    :ivar expected_seconds: what ``expected_steps`` take, by the mean times of its actions; None
        where they are not known.
    :ivar declared: how many of the pairs that the policy may come to are declared: what ``trust``
        says of it holds if the map is right; 0 where nothing holds.
    """

    trust: Trust
    expected_steps: Union[float, None]
    at_most_steps: Union[float, None]
    since_step: int
    why: str
    said: Annotated[Union[Said, None], maybe_said] = field(default=None, kw_only=True)
    expected_seconds: Union[float, None] = field(default=None, kw_only=True)
    declared: int = field(default=0, kw_only=True)


def may_follow(told: PolicyTrust | None, known: bool, least: Trust = Trust.CERTIFIED) -> bool:
    """
    Return whether a policy is trusted enough for a robot to be sent by it.

    :param told: how far it may be trusted; None if that was not published.
    :param known: whether it is of the hypothesis, or that for home.
    :param least: that is asked for.
    """
    if known and (told is None or told.trust is not Trust.DOUBTED):
        return True    # the hypothesis is newer than what was reported of it
    # Proven, of a state that is not known, is what was reported of an older hypothesis.
    return told is not None and told.trust not in (Trust.PROVEN, Trust.KEPT) and (
        told.trust.rank <= least.rank)


@dataclass(frozen=True)
class TrustedPolicy(PolicyTrust):
    """
    A policy, and how far it may be trusted.

    :ivar plays: how often it plays each action, if the counts were the truth.
    """

    policy: Policy
    plays: Union[Mapping[int, float], None] = field(default=None, kw_only=True)

    def timed(self, seconds: Mapping[int, float]) -> TrustedPolicy:
        """
        Return the same with the time that it takes.

        :param seconds: mean time of each action; one that is not known counts as the others.
        """
        if self.plays is None or not seconds:
            return self
        usual = sum(seconds.values()) / len(seconds)
        return replace(self, expected_seconds=sum(
            times * seconds.get(action, usual) for action, times in self.plays.items()))


def to_json(version: tuple[int, int], told: Iterable[TrustedPolicy]) -> str:
    """Return what the topic ``trust`` says, of the policies published under this version."""
    return json.dumps({'version': version, 'states': {str(each.policy.target): {
        'trust': each.trust.value, 'expected_steps': _rounded(each.expected_steps),
        'at_most_steps': _rounded(each.at_most_steps), 'since_step': each.since_step,
        'expected_seconds': _rounded(each.expected_seconds, 3), 'why': each.why,
        'said': each.said and each.said.to_plain(),
        **({'given': {'declared': each.declared}} if each.declared else {})}
        for each in told}})


def _rounded(value: float | None, digits: int = 2) -> float | None:
    return None if value is None else round(value, digits)


def from_json(message: str) -> tuple[tuple[int, int], dict[int, PolicyTrust]]:
    """
    Read what ``to_json`` has returned: the version, and the trust by state.

    :raises ValueError: says which entry is wrong and what was expected.
    """
    found = read_object('trust', load('trust', message), {
        'version': listed(integer), 'states': by_state('state', _told)})
    version = found.get('version', ())
    if len(version) != 2:
        raise wrong('trust: version', list(version), '[round, revision]')
    return (version[0], version[1]), found.get('states', {})


def _told(what: str, found: Any) -> PolicyTrust:
    if isinstance(found, dict):
        found = {**found, 'declared': 0, **read_object(
            f'{what}: given', found.get('given', {}), {'declared': integer})}
    told: PolicyTrust = reader_of(PolicyTrust)(what, found)
    return told
