# Copyright 2026 mnm_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0
# Unless required by applicable law or agreed to in writing, software distributed under the License
# is distributed on an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express
# or implied. See the License for the specific language governing permissions and limitations under
# the License.

"""What stands between callbacks and the exploration."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
import traceback
from typing import Any

from rclpy.node import Node


class CallbackGuard:
    """
    Keeps an error of the algorithm from ending the node, and late callbacks from acting.

    :param node: that logs errors.
    :param on_error: called with a sentence about an error.
    :ivar closed: once it is true, callbacks do nothing.
    """

    def __init__(self, node: Node, on_error: Callable[[str], None]) -> None:
        self.closed = False
        self._node = node
        self._on_error = on_error

    def call(self, method: Callable[..., None], *arguments: Any) -> None:
        """Call a method of the loop or of what surrounds it."""
        try:
            method(*arguments)
        except Exception as error:
            self._node.get_logger().error(traceback.format_exc(), throttle_duration_sec=5.0)
            self._on_error(f'{type(error).__name__}: {error}')

    def while_open(self, callback: Callable[..., None]) -> Callable[..., None]:
        """Return the callback of a timer or topic, which may come after that was removed."""
        @wraps(callback)
        def guarded(*arguments: Any) -> None:
            if not self.closed:
                callback(*arguments)
        return guarded
