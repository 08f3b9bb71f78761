# SPDX-License-Identifier: Apache-2.0

"""Base algorithms that break down, for the parameter ``base``."""

from __future__ import annotations

from typing import Any

from mnm_ros.core.components import part
from mnm_ros.core.mnm.base import BaseAlgorithm

_broken_before = False


def after_200_steps(*arguments: Any) -> BaseAlgorithm:
    """Break down at each of its steps from the 201st on."""
    return _breaking(part('base', 'ucb_explore')(*arguments), again=True)


def once(*arguments: Any) -> BaseAlgorithm:
    """Break down at its 201st step, once in the life of the process."""
    return _breaking(part('base', 'ucb_explore')(*arguments), again=False)


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
