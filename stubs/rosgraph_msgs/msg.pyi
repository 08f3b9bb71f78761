# SPDX-License-Identifier: Apache-2.0

from dataclasses import dataclass

from builtin_interfaces.msg import Time

@dataclass(kw_only=True)
class Clock:
    clock: Time = ...
