# SPDX-License-Identifier: Apache-2.0

"""Which stream of the building phase has the robot next, and when another one starts."""

from __future__ import annotations

from abc import ABC, abstractmethod

from mnm_ros.core.errors import InvalidValueError

ALONE = 1000
"""The quantum at which the second stream of ``DoublingSchedule`` starts."""


class Schedule(ABC):
    """
    Starts streams, and gives quanta to them.

    :ivar quanta: activations of all streams so far.
    :ivar activations: how often each stream was activated.
    """

    def __init__(self) -> None:
        self.restart()

    def restart(self) -> None:
        """Go on as if no stream had started."""
        self.quanta = 0
        self.activations: list[int] = []
        self._last: list[int] = []

    def next(self) -> int:    # noqa: A003
        """Return the index of the stream to activate; a new one has the next index."""
        self.quanta += 1
        if self.quanta >= self._start(len(self.activations) + 1):
            self.activations.append(0)
            self._last.append(0)
        chosen = self._choose()
        self.activations[chosen] += 1
        self._last[chosen] = self.quanta
        return chosen

    @abstractmethod
    def _start(self, number: int) -> float:
        """Return the quantum at which stream ``number`` (1, 2, ...) starts."""

    @abstractmethod
    def _choose(self) -> int:
        """Return the index of the stream to activate, of those that there are."""


class StreamSchedule(Schedule):
    """
    Streams are started ever more rarely and activated equally often, as printed.

    The rules of activation keep all streams within one quantum of each other except for the
    newest, which catches up first. The stream that was started first after the last change
    thus gets at least as many quanta as any other from then on.

    :param exponent: stream ``p`` starts at quantum ``(p - 1)^exponent + 1``; 2 as printed. With a
        larger one, ``x`` quanta for a stream take about ``x^(exponent / (exponent - 1))``
        in all.
    :raises ValueError: if the exponent is not above 1.

    Source: Gajane et al. 2019, section 4.
    """

    def __init__(self, exponent: float) -> None:
        if not exponent > 1:
            raise InvalidValueError(f'stream_exponent is {exponent}, expected a number > 1')
        super().__init__()
        self._exponent = exponent

    def _start(self, number: int) -> float:
        return (number - 1) ** self._exponent + 1

    def _choose(self) -> int:
        """Return the stream active least often, of several the least recently active one."""
        return min(range(len(self.activations)),
                   key=lambda p: (self.activations[p], self._last[p]))


class DoublingSchedule(Schedule):
    """
    A stream is started whenever the quanta have doubled; there is no catching up.

    Stream ``p + 1`` starts at quantum ``ALONE * 2^(p - 1)``, so that quantum ``q >= ALONE`` sees
    ``n(q) = 2 + floor(log2(q / ALONE))`` streams. They take turns, so that a stream has its share
    of the quanta since its start. Without a change, the first stream has the robot alone until
    ``ALONE``. After a change at quantum ``q`` the next stream, which is clean, starts at
    ``s <= max(ALONE, 2 q)`` and gets its quantum number ``x`` by quantum ``t < s + x n(t)``:
    ``n`` is 5 at most below 16,000 quanta and 11 at most below a million.
    """

    def _start(self, number: int) -> float:
        return 1 if number == 1 else ALONE * 2 ** (number - 2)

    def _choose(self) -> int:
        """Return the least recently active stream; a new one was never active."""
        return min(range(len(self._last)), key=self._last.__getitem__)


def new_schedule(name: str, exponent: float) -> Schedule:
    """Return the schedule of a name; ``exponent`` matters for the printed one only."""
    return StreamSchedule(exponent) if name == 'printed' else DoublingSchedule()
