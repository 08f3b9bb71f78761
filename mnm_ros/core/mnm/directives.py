# SPDX-License-Identifier: Apache-2.0

"""
The sum of all wishes of people; the promise does not depend on it.

``Mnm`` keeps the ``Directives``, and the phase under way heeds them, and each wish.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from mnm_ros.core.inputs import ImproveInput, LookInput, Preference, Wish
from mnm_ros.core.model.problem import RESET

_MOST_PREFERRED = 1000    # states, the last ones


@dataclass(frozen=True)
class Directives:
    """
    The sum of all wishes so far, as one value that the next wish replaces.

    :ivar preferred: states, in the order in which they were first preferred.
    :ivar looks_are_told: whether closed pairs are not executed unless a ``LookInput`` asks for it.
    :ivar improved: what policies are to be within of the best, by target.
    """

    preferred: tuple[int, ...] = ()
    looks_are_told: bool = False
    improved: Mapping[int, float] = field(default_factory=dict)

    def after(self, wish: Wish) -> Directives:
        """Return the value after another wish."""
        if isinstance(wish, Preference):
            if wish.state in self.preferred:
                return self
            return replace(self, preferred=(*self.preferred, wish.state)[-_MOST_PREFERRED:])
        if isinstance(wish, ImproveInput):
            return replace(self, improved={} if wish.state is None else {
                **self.improved, wish.state: wish.within})
        return replace(self, looks_are_told=True)

    @property
    def for_checks(self) -> Iterator[Wish]:
        """Yield the wishes that a checking phase begins with."""
        if self.looks_are_told:
            yield LookInput(None, RESET)
        for target, within in self.improved.items():
            yield ImproveInput(target, within)
