# SPDX-License-Identifier: Apache-2.0

from rclpy.context import Context
from rclpy.executors import Executor

def EventsExecutor(*, context: Context | None = None) -> Executor: ...
