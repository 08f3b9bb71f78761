# SPDX-License-Identifier: Apache-2.0

from dataclasses import dataclass
from typing import ClassVar

@dataclass(kw_only=True)
class Transition:
    id: int = ...
    label: str = ...
    TRANSITION_DEACTIVATE: ClassVar[int]
    TRANSITION_UNCONFIGURED_SHUTDOWN: ClassVar[int]
    TRANSITION_INACTIVE_SHUTDOWN: ClassVar[int]
    TRANSITION_ACTIVE_SHUTDOWN: ClassVar[int]
