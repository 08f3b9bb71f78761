"""A base algorithm that breaks down, as ``failing_base:after_200_steps``."""

from __future__ import annotations

from typing import Any

from mnm_ros.core.base import BaseAlgorithm
from mnm_ros.core.presets import BASES


def after_200_steps(*arguments: Any) -> BaseAlgorithm:
    base = BASES['ucb_explore'](*arguments)
    observe, left = base.observe, 200

    def breaking(state: int) -> None:
        nonlocal left
        left -= 1
        if left < 0:
            raise ZeroDivisionError('injected')
        observe(state)

    base.observe = breaking    # type: ignore[method-assign]
    return base
