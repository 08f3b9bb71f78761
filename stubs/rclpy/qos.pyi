# SPDX-License-Identifier: Apache-2.0

from enum import IntEnum

from rclpy.duration import Duration

class DurabilityPolicy(IntEnum):
    TRANSIENT_LOCAL = ...
    VOLATILE = ...

class LivelinessPolicy(IntEnum):
    AUTOMATIC = ...
    MANUAL_BY_TOPIC = ...

class ReliabilityPolicy(IntEnum):
    RELIABLE = ...
    BEST_EFFORT = ...

class QoSProfile:
    depth: int
    durability: DurabilityPolicy
    def __init__(
        self, *, depth: int, reliability: ReliabilityPolicy = ...,
        durability: DurabilityPolicy = ..., deadline: Duration = ...,
        liveliness: LivelinessPolicy = ...,
        liveliness_lease_duration: Duration = ...) -> None: ...
