# SPDX-License-Identifier: Apache-2.0

"""A clock that tests put forward, for what nodes in their process would wait for."""

from __future__ import annotations

from collections.abc import Callable
import time

from node_processes import Peer
import pytest

_SPIN = 0.02    # s, for timers and messages that are due


def passing_time(monkeypatch: pytest.MonkeyPatch) -> Callable[[float], None]:
    """Return a function that puts the clock of this process, ``time.monotonic``, forward by s."""
    real, ahead = time.monotonic, 0.0

    def put_forward(seconds: float) -> None:
        nonlocal ahead
        ahead += seconds

    monkeypatch.setattr(time, 'monotonic', lambda: real() + ahead)
    return put_forward


def watched(peer: Peer, put_forward: Callable[[float], None], seconds: float) -> None:
    """Spin until so many s have passed by the clock, to see that something does not happen."""
    for _ in range(10):
        peer.spin(_SPIN)
        put_forward(seconds / 10)
    peer.spin(_SPIN)
