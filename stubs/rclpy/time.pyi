# SPDX-License-Identifier: Apache-2.0

from builtin_interfaces.msg import Time as TimeMessage

class Time:
    @property
    def nanoseconds(self) -> int: ...
    def to_msg(self) -> TimeMessage: ...
