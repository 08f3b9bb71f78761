# SPDX-License-Identifier: Apache-2.0

"""
The sum of the wishes of people that hold on; the promise does not depend on it.

``Mnm`` keeps the ``Directives``, and the phase under way heeds them, and each wish. That a caller
schedules the re-checks of closed pairs is kept beside the pairs (``PairWatch``).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from mnm_ros.core.inputs import ImproveInput, Preference

_MOST_PREFERRED = 1000    # states, the last ones


@dataclass(frozen=True)
class Directives:
    """
    The sum of these wishes so far, as one value that the next one replaces.

    :ivar preferred: states, in the order in which they were first preferred.
    :ivar improved: what policies are to be within of the best, by target.
    """

    preferred: tuple[int, ...] = ()
    improved: Mapping[int, float] = field(default_factory=dict)

    def after(self, wish: Preference | ImproveInput) -> Directives:
        """Return the value after another wish."""
        if isinstance(wish, Preference):
            if wish.state in self.preferred:
                return self
            return replace(self, preferred=(*self.preferred, wish.state)[-_MOST_PREFERRED:])
        return replace(self, improved={} if wish.state is None else {
            **self.improved, wish.state: wish.within})
