# SPDX-License-Identifier: Apache-2.0

from typing import Generic, TypeVar

from rclpy.duration import Duration

_MsgT = TypeVar('_MsgT')

class Publisher(Generic[_MsgT]):
    def publish(self, msg: _MsgT | bytes) -> None: ...
    def get_subscription_count(self) -> int: ...
    @property
    def topic_name(self) -> str: ...
    def wait_for_all_acked(self, timeout: Duration = ...) -> bool: ...
