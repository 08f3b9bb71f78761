# SPDX-License-Identifier: Apache-2.0

"""
The columns of states in rows of actions, kept once for all policies over the same states.

A map of its own for each of 1,000 policies over 1,000 states takes 50 MB.
"""

from __future__ import annotations

from collections import deque
from threading import Lock

_KEPT = 8    # orders that new policies may share; streams of the base learn in different ones


class StateOrder:
    """
    States in an order that only ever grows at its end.

    Whoever knows the first ``n`` of them shares it with those who know more, and takes a column
    from ``n`` on for a state that it does not know.

    :ivar states: all states so far.
    :ivar column: the place of each of them in ``states``.
    """

    def __init__(self) -> None:
        self.states: tuple[int, ...] = ()
        self.column: dict[int, int] = {}

    def begins_with(self, states: tuple[int, ...]) -> bool:
        """Return whether these are the first ones, or can be once some are added at the end."""
        count = len(self.states)
        if len(states) <= count:
            return self.states is states or self.states[:len(states)] == states
        return states[:count] == self.states and self.column.keys().isdisjoint(states[count:])

    def add(self, states: tuple[int, ...]) -> None:
        """Make these the first ones, which ``begins_with`` has allowed."""
        count = len(self.states)
        if len(states) > count:
            self.column.update(zip(states[count:], range(count, len(states))))
            self.states = states


_orders: deque[StateOrder] = deque(maxlen=_KEPT)    # the one used last in front
_lock = Lock()    # a plan may be made in another thread


def order_of(states: tuple[int, ...]) -> StateOrder:
    """
    Return an order that begins with these states, one in use already if there is any.

    :raises ValueError: if a state is listed twice.
    """
    with _lock:
        for index, order in enumerate(_orders):
            if order.begins_with(states):
                if len(states) > len(order.states):
                    _check_distinct(states)
                    order.add(states)
                if index:
                    del _orders[index]
                    _orders.appendleft(order)
                return order
        _check_distinct(states)
        order = StateOrder()
        order.add(states)
        _orders.appendleft(order)
        return order


def _check_distinct(states: tuple[int, ...]) -> None:
    if len(set(states)) != len(states):
        raise ValueError('a state is listed twice, expected distinct states')
