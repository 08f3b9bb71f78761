# Copyright 2026 mnm_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0
# Unless required by applicable law or agreed to in writing, software distributed under the License
# is distributed on an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express
# or implied. See the License for the specific language governing permissions and limitations under
# the License.

"""Which stream of the building phase gets the next quantum (Gajane et al. 2019, section 4)."""

from __future__ import annotations


class StreamSchedule:
    """
    Streams are started ever more rarely and activated equally often.

    The rules of activation keep all streams within one quantum of each other except for the
    newest, which catches up first. The stream that was started first after the last change
    thus gets at least as many quanta as any other from then on.

    :param exponent: stream ``p`` starts at quantum ``(p - 1)^exponent + 1``; 2 as printed. With a
        larger one, ``x`` quanta for a stream take about ``x^(exponent / (exponent - 1))``
        in all.
    :ivar quanta: activations of all streams so far.
    :ivar activations: how often each stream was activated.
    :raises ValueError: if the exponent is not above 1.
    """

    def __init__(self, exponent: float) -> None:
        if not exponent > 1:
            raise ValueError(f'stream_exponent is {exponent}, expected a number > 1')
        self._exponent = exponent
        self.quanta = 0
        self.activations: list[int] = []
        self._last: list[int] = []

    def next(self) -> int:    # noqa: A003
        """
        Return the index of the stream to activate; that of a new one is one above the others.

        It is the stream active least often, and of several the least recently active one.
        """
        self.quanta += 1
        if self.quanta >= len(self.activations) ** self._exponent + 1:
            self.activations.append(0)
            self._last.append(0)
        chosen = min(range(len(self.activations)),
                     key=lambda p: (self.activations[p], self._last[p]))
        self.activations[chosen] += 1
        self._last[chosen] = self.quanta
        return chosen
