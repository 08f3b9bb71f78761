# SPDX-License-Identifier: Apache-2.0

"""What is left to do until a change that was noticed counts as relearnt."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any


class Relearning:
    """
    The sampling that a change has made necessary, and the policies that it concerns.

    :param state: from ``to_state``, just before a rediscovery, to go on from there.
    :ivar swept: whether a whole rediscovery, begun since the last notice, has found nothing.
    :ivar all_doubted: whether all policies were doubted since the change was noticed.
    :ivar concerned: targets of policies through pairs that have changed.
    """

    def __init__(self, state: Mapping[str, Any] | None = None) -> None:
        self.swept = bool(state and state['swept'])
        self.all_doubted = bool(state and state['all_doubted'])
        self.concerned: dict[int, None] = dict.fromkeys(state['concerned'] if state else ())
        self._quiet = True

    def to_state(self) -> dict[str, Any]:
        """Return all of it as plain data; only just before a rediscovery."""
        return {'swept': self.swept, 'all_doubted': self.all_doubted,
                'concerned': list(self.concerned)}

    def begin_rediscovery(self) -> None:
        """Take note that a rediscovery is begun."""
        self._quiet = True

    def end_rediscovery(self) -> None:
        """Take note that the rediscovery has sampled all known states."""
        self.swept = self.swept or self._quiet

    def notice(self) -> None:
        """Take note of something new: all has to be sampled since then."""
        self._quiet = self.swept = False

    def concern(self, targets: Iterable[int]) -> None:
        """Add targets of policies that the change concerns."""
        self.concerned.update(dict.fromkeys(targets))

    def keep(self, targets: Collection[int]) -> None:
        """Take note of the targets that are left."""
        self.concerned = {target: None for target in self.concerned if target in targets}

    def settle(self) -> None:
        """Take note that the change is relearnt."""
        self.concerned = {}
        self.all_doubted = False
