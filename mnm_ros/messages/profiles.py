# SPDX-License-Identifier: Apache-2.0

"""The quality-of-service profiles of the topics."""

from __future__ import annotations

from typing import Any

from rclpy.duration import Duration
from rclpy.qos import DurabilityPolicy, LivelinessPolicy, QoSProfile, ReliabilityPolicy

_VOLATILE, _LATCHED = DurabilityPolicy.VOLATILE, DurabilityPolicy.TRANSIENT_LOCAL


def _reliable(depth: int, durability: DurabilityPolicy, **more: Any) -> QoSProfile:
    return QoSProfile(
        depth=depth, reliability=ReliabilityPolicy.RELIABLE, durability=durability, **more)


LATCHED = _reliable(1, _LATCHED)
"""For values: a late subscriber gets the current one at once."""

LATCHED_BY_MANY = _reliable(10, _LATCHED)
"""For values of several publishers: a late subscriber gets the current one of each."""

EVENTS = _reliable(50, _LATCHED)
"""For ``events``: a late subscriber gets the last ones."""

STEP = _reliable(10, _VOLATILE)
"""For the step protocol: ``action`` and ``state``."""

TRANSFORMS = _reliable(100, _VOLATILE)
"""For ``tf``, as tf2 has it."""

STATIC_TRANSFORMS = _reliable(100, _LATCHED)
"""For ``tf_static``, to hear all that is latched there."""

LEASE = 2.0
"""Seconds without a heartbeat after which a node counts as hung or dead."""

HEARTBEAT = _reliable(
    1, _VOLATILE, deadline=Duration(seconds=LEASE),
    liveliness=LivelinessPolicy.MANUAL_BY_TOPIC, liveliness_lease_duration=Duration(seconds=LEASE))
"""For ``heartbeat``: a subscriber with the same profile is notified if the node hangs or dies."""

REQUESTS = _reliable(1000, _VOLATILE)
"""To hear ``requests`` and calls: a flood of them does not take the place of a stop."""

HEARTBEATS = _reliable(10, _VOLATILE)
"""To hear the heartbeats of several nodes, none of which takes the place of another one's."""
