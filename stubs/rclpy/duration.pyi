# SPDX-License-Identifier: Apache-2.0

from builtin_interfaces.msg import Duration as DurationMessage

class Duration:
    def __init__(self, *, seconds: float = 0, nanoseconds: int = 0) -> None: ...
    def to_msg(self) -> DurationMessage: ...
