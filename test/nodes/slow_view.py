# SPDX-License-Identifier: Apache-2.0

"""The explorer, where all that is shown takes ``SECONDS`` of computing more."""

from __future__ import annotations

from collections.abc import Callable
import sys
import time
from typing import Any

from mnm_ros.core.exploration import Exploration
from mnm_ros.nodes.explorer import main as explorer

SECONDS = 1.0    # of CPU time


def slowly(query: Callable[..., Any]) -> Callable[..., Any]:
    """Return a query that computes before it answers."""
    def slow(*arguments: Any) -> Any:
        end = time.process_time() + SECONDS
        while time.process_time() < end:
            sum(range(1000))
        return query(*arguments)
    return slow


def main() -> int:
    for name in ('activity', 'trust'):
        setattr(Exploration, name, slowly(getattr(Exploration, name)))
    return explorer()


if __name__ == '__main__':
    sys.exit(main())
