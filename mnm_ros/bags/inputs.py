# SPDX-License-Identifier: Apache-2.0

"""
What an exploration has learnt from, out of a bag of the step topics.

The topic ``interruption`` says what else has come between two steps, so that the inputs are those
of the explorer, one by one. Whether anything is missing is known from the numbers of the orders.
Without that topic the interruptions are inferred.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from mnm_ros.bags.reading import Bag
from mnm_ros.checkpoint.input_log import Entry, Inputs, Refused
from mnm_ros.checkpoint.warm_start import begun
from mnm_ros.core.exploration import Exploration, Input, Listener
from mnm_ros.core.interruption import Break
from mnm_ros.core.model.problem import RESET

_NEAR = 1000    # orders of one sender; those of others have numbers that are farther away
_REPORT = -1
_UNKNOWN = -99    # in place of an action whose order is missing


class Recorded(Inputs):
    """
    The inputs in a bag.

    :param bag: as it was read.
    :param identity: what the exploration was asked for; None to take it from the bag.
    :ivar times: of each input in ns; that of the step before where it is not known.
    :ivar inferred: whether interruptions were inferred, so that some may have been missed.
    :raises Refused: if something is missing.
    """

    def __init__(self, bag: Bag, identity: Mapping[str, Any] | None = None) -> None:
        asked = identity if identity is not None else bag.configuration
        if asked is None:
            raise Refused(f'{bag.path} has no topic configuration, expected --params-file with '
                          'the parameters of the explorer')
        super().__init__(bag.path, asked, None)
        self.bag = bag
        self.inferred = not bag.interruptions
        self.times: list[int] = []
        self._steps = 0
        if self.inferred:
            self._infer()
        else:
            self._follow()
        self.number = len(self.inputs)

    def _add(self, entry: Entry, time: int | None = None) -> None:
        self.inputs.append(entry)
        last = self.times[-1] if self.times else min(self.bag.ordered.values())
        self.times.append(last if time is None else time)

    def _follow(self) -> None:
        """Take the steps as the interruptions count them."""
        first = self.bag.interruptions[0]
        if first.steps:
            raise Refused(f'{self.path} begins after {first.steps} steps of the exploration, '
                          'expected a bag that was recorded from the beginning')
        self._complete(first.seq)
        seq, stopped = first.seq, False
        for each in self.bag.interruptions:
            seq = self._advance(seq, each.steps, stopped)
            stopped = each.kind is Break.OVER
            if each.kind is Break.BEGUN:
                self._go_back(each.steps, each.state)
            elif not stopped:
                self._add((Input(each.kind.value), each.state, each.action))
            if not stopped:
                seq = each.seq
        if not stopped:
            while seq in self.bag.answers:
                self._observe(seq)
                seq += 1
            self._check_end(seq)
        self._fill_in()

    def _complete(self, first: int) -> None:
        """
        Add the first answer if it is missing: it came while recorder and robot met.

        The first order is a RESET, and leads home, where later ones lead, too. If it did not, the
        exploration would decide otherwise in a replay.
        """
        bag = self.bag
        homes = Counter(bag.answers[seq][0] for seq, action in bag.orders.items()
                        if action == RESET and seq in bag.answers)
        if homes and first not in bag.answers:
            bag.answers[first] = homes.most_common(1)[0][0], min(bag.ordered.values())

    def _fill_in(self) -> None:
        """Add orders that are missing: an exploration that knows the answers would give them."""
        unknown = [index for index, entry in enumerate(self.inputs) if entry[2] == _UNKNOWN]
        if not unknown:
            return
        exploration = begun(self)
        for index, (kind, state, action) in enumerate(self.inputs[:unknown[-1] + 1]):
            if action == _UNKNOWN:
                action = exploration.next_action()
                self.inputs[index] = kind, state, action
            exploration.take(kind, state, action)

    def _advance(self, seq: int, steps: int, stopped: bool) -> int:
        """Take steps until there are so many; return the number of the next order."""
        while self._steps < steps and not stopped:
            self._check(seq)
            self._observe(seq)
            seq += 1
        return seq

    def _observe(self, seq: int) -> None:
        state, time = self.bag.answers[seq]
        self._add((Input.OBSERVED, state, self.bag.orders.get(seq, _UNKNOWN)), time)
        self._steps += 1

    def _go_back(self, steps: int, since: int) -> None:
        """
        Drop what came later: the explorer went on from before it.

        :param steps: that were left.
        :param since: inputs since the last of them; the last is that with which it went on.
        """
        while self._steps > steps:
            kind, *_ = self.inputs.pop()
            self.times.pop()
            self._steps -= kind is Input.OBSERVED
        trailing = 0
        while trailing < len(self.inputs) and self.inputs[-1 - trailing][0] is not Input.OBSERVED:
            trailing += 1
        for _ in range(trailing - max(0, since - 1)):
            self.inputs.pop()
            self.times.pop()
        if since:
            self._add((Input.INTERRUPTED, 0, RESET))

    def _check(self, seq: int) -> None:
        if seq not in self.bag.answers:
            raise Refused(
                f'{self.path} lacks the answer to the order {seq} after {self._steps} steps, '
                'expected every message of state: was the recorder there before the explorer, '
                'and the robot slow enough for it (a simulator has the parameter latency; mnm_ros '
                'trial needs no recorder)? RESET by the service return_home is no message')

    def _check_end(self, seq: int) -> None:
        """Refuse a bag that goes on after something that is missing."""
        if any(later in self.bag.answers for later in range(seq + 1, seq + _NEAR)):
            self._check(seq)

    def _infer(self) -> None:
        """Follow the exploration, which says where a RESET is none of its own."""
        exploration = begun(self)
        exploration.listeners.append(Listener(lambda taken: self._add(taken.entry)))
        orders, first = self.bag.orders, min(self.bag.orders)
        if max(orders) - first > len(orders) + _NEAR:
            raise Refused(f'{self.path} has the orders of several senders and no topic '
                          'interruption, expected either')
        seq = first
        for number, state, time in self.bag.heard:
            if number == _REPORT:
                if seq in orders and self.bag.ordered[seq] < time:
                    exploration.next_action()    # which is broken off
                exploration.take(Input.RELOCATED, state)
                seq += seq in orders and self.bag.ordered[seq] < time
            elif number >= seq and number in orders:
                while seq < number:
                    exploration.next_action()
                    exploration.take(Input.INTERRUPTED)
                    seq += 1
                self._follow_order(exploration, orders[seq], state)
                seq += 1
            self.times[-1:] = [time] if self.times else []

    def _follow_order(self, exploration: Exploration, action: int, state: int) -> None:
        if action == RESET and exploration.next_action() != RESET:
            exploration.take(Input.INTERRUPTED)
        if exploration.next_action() != action:
            raise Refused(f'{self.path} has action {action} at step {exploration.steps}, expected '
                          f'{exploration.next_action()}: other parameters, another version, or '
                          'messages that were lost')
        exploration.take(Input.OBSERVED, state, action)
