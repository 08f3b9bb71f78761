"""How many robot sides take the orders of the explorer: only one of them may."""

from __future__ import annotations

from collections.abc import Callable
import math

from rclpy.node import Node

from mnm_ros.nodes.common.graph_watch import RobotSides
from mnm_ros.nodes.exploring.orders import Orders

_SETTLE = 0.3     # s, from the moment a subscriber can be reached until its node is known, too
_LONGEST = 3.0    # s, to wait for the name of a node; some programs have none


class Census:
    """Says why the robot has to be left alone because there may be two of them.

    A robot side that was killed stays in the graph for some 20 s. It counts for as long, unless
    it is known to be gone: it does not confirm what is sent to it, and there is no other one
    that could have been silent instead.

    Args:
        node: that has the topics.
        orders: its topic ``action``.
        states: fully qualified name of ``state``.
        confirmed: whether everybody has confirmed the last message of another topic.
    """

    def __init__(self, node: Node, orders: Orders, states: str,
                 confirmed: Callable[[], bool]) -> None:
        self._orders = orders
        self._confirmed = confirmed
        self._robots = RobotSides(node, orders.topic_name, states)
        self._joined: dict[object, float] = {}    # when each robot side was first seen
        self._gone: frozenset[object] = frozenset()
        self._subscribers = 0
        self._new_at = -math.inf

    @property
    def changed(self) -> bool:
        """Whether there are more subscribers than last time, or fewer."""
        return self._orders.get_subscription_count() != self._subscribers

    def reason_to_wait(self, driving: bool, late_since: float | None, now: float) -> str:
        """Return why nobody may be commanded at present, or nothing.

        Args:
            driving: whether a robot is being commanded at present.
            late_since: when the order was given that should have been answered by now, or None.
            now: time in seconds.
        """
        before, self._subscribers = self._subscribers, self._orders.get_subscription_count()
        if self._subscribers > before > 0:
            self._new_at = now
        names = self._robots.look()
        self._joined = {robot: self._joined.get(robot, now) for robot in names}
        self._forget_the_gone(driving, late_since)
        left = [name for robot, name in names.items() if robot not in self._gone]
        if len(left) > 1 and (self._gone or len(left) > 2 or self._all_there):
            return (f'{len(left)} nodes subscribe to {self._orders.topic_name} as robots: '
                    f'{", ".join(sorted(left))}')
        if now < self._new_at + (_LONGEST if self._robots.unknown else _SETTLE):
            return f'somebody new subscribes to {self._orders.topic_name}'
        return ''

    @property
    def _all_there(self) -> bool:
        return self._confirmed() and self._orders.confirmed

    def _forget_the_gone(self, driving: bool, late_since: float | None) -> None:
        """Take note of those that have been killed."""
        robots = self._joined.keys()
        self._gone &= robots
        if driving and late_since is not None:
            silent = {robot for robot, joined in self._joined.items() if joined < late_since}
            if silent - self._gone and not self._all_there:
                self._gone |= silent
        elif self._gone and (driving and self._gone == robots or self._all_there):
            self._gone = frozenset()    # one of them has answered, or all have confirmed
