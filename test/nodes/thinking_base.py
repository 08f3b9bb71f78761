# SPDX-License-Identifier: Apache-2.0

"""Base algorithms that now and then think for long, for the parameter ``base``."""

from __future__ import annotations

from collections.abc import Callable
import time
from typing import Any

from mnm_ros.core.components import BASES
from mnm_ros.core.mnm.base import BaseAlgorithm
import numpy as np

EVERY = 40    # steps

_steps = 0


def shortly(*arguments: Any) -> BaseAlgorithm:
    """Return a base that computes for 1.5 s at each 40th step."""
    return _thinking(BASES['disco'](*arguments), 1.5)


def endlessly(*arguments: Any) -> BaseAlgorithm:
    """Return a base that computes for a minute at each 40th step."""
    return _thinking(BASES['disco'](*arguments), 60.0)


def quietly(*arguments: Any) -> BaseAlgorithm:
    """Return a base that waits for 1.5 s at each 40th step, which costs no computing time."""
    return _thinking(BASES['disco'](*arguments), 1.5, _wait)


def quietly_endlessly(*arguments: Any) -> BaseAlgorithm:
    """Return a base that waits for a minute at each 40th step."""
    return _thinking(BASES['disco'](*arguments), 60.0, _wait)


def in_vain(*arguments: Any) -> BaseAlgorithm:
    """Return a base that computes for half a second at its 40th step, and breaks down."""
    base = _thinking(BASES['disco'](*arguments), 0.5)
    observe = base.observe

    def breaking(action: int, state: int) -> None:
        observe(action, state)
        if _steps == EVERY:
            raise ZeroDivisionError('injected')

    base.observe = breaking    # type: ignore[method-assign]
    return base


def _wait(seconds: float) -> None:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        time.sleep(0.02)


def _compute(seconds: float) -> None:
    end = time.thread_time() + seconds    # longer by the clock if the machine is busy
    matrix = np.eye(200)
    while time.thread_time() < end:
        matrix = np.linalg.solve(np.eye(200) + 0.1 * matrix, matrix)
        sum(range(10_000))    # which keeps the interpreter to itself


def _thinking(base: BaseAlgorithm, seconds: float,
              think: Callable[[float], None] = _compute) -> BaseAlgorithm:
    observe = base.observe

    def thinking(action: int, state: int) -> None:
        global _steps
        _steps += 1
        if _steps % EVERY == 0:
            think(seconds)
        observe(action, state)

    base.observe = thinking    # type: ignore[method-assign]
    return base
