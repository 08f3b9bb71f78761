# SPDX-License-Identifier: Apache-2.0

"""The executor of the nodes, and of programs that talk to them: the cheapest that ROS has."""

from __future__ import annotations

try:
    from rclpy.experimental import EventsExecutor as FastExecutor  # noqa: TID251
except ImportError:    # Humble
    from rclpy.executors import SingleThreadedExecutor as FastExecutor

__all__ = ['FastExecutor']
