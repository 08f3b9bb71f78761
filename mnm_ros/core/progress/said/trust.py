# SPDX-License-Identifier: Apache-2.0

"""Why a policy is trusted, or not."""

from __future__ import annotations

from dataclasses import dataclass

from mnm_ros.core.progress.said.value import Said


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
class OfHypothesis(Said):
    """The policy is of the hypothesis of a round."""

    round: int    # noqa: A003


@dataclass(frozen=True)
class OfHypothesisNearlyBest(OfHypothesis):
    """The same, and it is proven to be nearly the best."""

    within: float
