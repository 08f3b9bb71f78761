# SPDX-License-Identifier: Apache-2.0

"""
Audits of the declaration: some steps execute pairs that nothing else would try again.

What they cost is bounded: one step is asked for in ``1 / Declaration.audit``, and the way to it.
It is the run of the base that makes it, while it samples, so that no attempt is disturbed. Which
pair it is depends on the past alone, as with all samples: what was tried least comes first, but
what is near home more often than what is far, as more lies behind it. What cannot be reached goes
behind the others, as to ask counts as to try.
"""

from __future__ import annotations

from mnm_ros.core.mnm.mnm import Mnm
from mnm_ros.core.model.counts import Counts, Pair


class Audit:
    """Asks for one step after the other."""

    def __init__(self) -> None:
        self._asked: dict[Pair, int] = {}

    def step(self, steps: int, counts: Counts, mnm: Mnm) -> None:
        """Ask for an audit if one is due with this step, the last of ``steps``."""
        share = mnm.support.declared.audit
        if share and int(steps * share) > int((steps - 1) * share):
            away = mnm.phase.auditable()
            pair = min(away, key=lambda each: (
                (1 + max(counts.visits(*each), self._asked.get(each, 0)))
                * (1 + away[each]), away[each]), default=None)
            if pair is not None:
                self._asked[pair] = self._asked.get(pair, 0) + 1
                mnm.phase.request_sample(*pair)
