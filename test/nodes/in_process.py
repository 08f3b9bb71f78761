# SPDX-License-Identifier: Apache-2.0

"""A navigator in the process of a test: it starts at once and finds the robot of the test."""

from __future__ import annotations

from collections.abc import Callable

from mnm_ros.nodes.navigating import explorer_goals
from mnm_ros.nodes.navigator import Navigator
from navigating import KNOWN, Operator, publish
from node_processes import Peer
import pytest
from rclpy.parameter import Parameter

_FIND = 0.1    # s, in which an explorer of the same process is found


def navigator_here(peer: Peer, monkeypatch: pytest.MonkeyPatch,
                   **parameters: object) -> Navigator:
    """Return a navigator that a peer spins; it looks for an explorer for a moment only."""
    monkeypatch.setattr(explorer_goals, '_FIND', _FIND)
    node = Navigator(context=peer.context, parameter_overrides=[
        Parameter(name, value=value) for name, value in parameters.items()])
    peer.spin_also(node)
    return node


def navigating_here(peer: Peer, operator: Operator,
                    monkeypatch: pytest.MonkeyPatch) -> Callable[..., Navigator]:
    """Return a function that makes such a navigator, which has heard the policies."""
    def make(**parameters: object) -> Navigator:
        node = navigator_here(peer, monkeypatch, **parameters)
        publish(peer, KNOWN)
        operator.wait_for_navigator()
        return node
    return make
