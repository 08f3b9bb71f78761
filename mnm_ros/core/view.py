# SPDX-License-Identifier: Apache-2.0

"""Remember what a display shows of an exploration, from one call to the next."""

from __future__ import annotations

from collections.abc import Iterable

from mnm_ros.core.continuation import Continuation
from mnm_ros.core.knowledge.expected_plays import ExpectedPlays
from mnm_ros.core.progress.trust import TrustedPolicy
from mnm_ros.core.trust_ledger import TrustLedger


class View:
    """
    The memory of those who observe an exploration.

    It can be pickled, and holds nothing of the exploration, which knows nothing of it either: a
    query of ``Exploration`` changes the view that it is handed, and nothing else.

    :param trusted: what ``TrustLedger.to_state`` returned, to go on from there.
    :ivar plays: of the policies of the hypothesis.
    :ivar continuation: of the steps that are left.
    :ivar ledger: of how far policies may be trusted.
    :ivar looks: how many of them may be computed the next time.
    :ivar told: what was published of them last.
    """

    def __init__(self, trusted: Iterable[tuple[int, str, int]] = ()) -> None:
        self.plays = ExpectedPlays()
        self.continuation = Continuation()
        self.ledger = TrustLedger(trusted)
        self.looks = 1
        self.told: tuple[TrustedPolicy, ...] = ()
