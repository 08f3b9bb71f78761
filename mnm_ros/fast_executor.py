# SPDX-License-Identifier: Apache-2.0

"""The executor of the nodes, and of programs that talk to them: the cheapest that ROS has."""

from __future__ import annotations

from io import UnsupportedOperation

from rclpy.context import Context
from rclpy.executors import Executor, SingleThreadedExecutor

try:
    from rclpy.experimental import EventsExecutor  # noqa: TID251
except ImportError:    # Humble
    EventsExecutor = SingleThreadedExecutor


def fast_executor(context: Context | None = None) -> Executor:
    """Return a new executor; a wait set for each message would take several times as long."""
    try:
        return EventsExecutor(context=context)
    except UnsupportedOperation:    # stderr is no file, as in a notebook, for Python's stacks
        return SingleThreadedExecutor(context=context)
