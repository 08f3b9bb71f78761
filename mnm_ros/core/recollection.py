# Copyright 2026 mnm_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0
# Unless required by applicable law or agreed to in writing, software distributed under the License
# is distributed on an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express
# or implied. See the License for the specific language governing permissions and limitations under
# the License.

"""What an exploration remembers of another one in the same CMP."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Optional

Step = tuple[int, int, Optional[int]]
"""State, action and next state; None for a step that was broken off."""


@dataclass(frozen=True)
class Recollection:
    """
    Transitions that were made before an exploration began.

    :ivar home: where RESET has led.
    :ivar steps: in the order in which they were made, RESETs left out.
    """

    home: int
    steps: tuple[Step, ...]
