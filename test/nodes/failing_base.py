# Copyright 2026 mnm_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0
# Unless required by applicable law or agreed to in writing, software distributed under the License
# is distributed on an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express
# or implied. See the License for the specific language governing permissions and limitations under
# the License.

"""Base algorithms that break down, for the parameter ``base``."""

from __future__ import annotations

from typing import Any

from mnm_ros.core.base import BaseAlgorithm
from mnm_ros.core.parts import BASES

_broken_before = False


def after_200_steps(*arguments: Any) -> BaseAlgorithm:
    """Breaks down at each of its steps from the 201st on."""
    return _breaking(BASES['ucb_explore'](*arguments), again=True)


def once(*arguments: Any) -> BaseAlgorithm:
    """Breaks down at its 201st step, once in the life of the process."""
    return _breaking(BASES['ucb_explore'](*arguments), again=False)


def _breaking(base: BaseAlgorithm, again: bool) -> BaseAlgorithm:
    observe, left = base.observe, 200

    def breaking(action: int, state: int) -> None:
        nonlocal left
        global _broken_before
        left -= 1
        if left < 0 and (again or not _broken_before):
            _broken_before = True
            raise ZeroDivisionError('injected')
        observe(action, state)

    base.observe = breaking    # type: ignore[method-assign]
    return base
