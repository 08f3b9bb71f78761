# SPDX-License-Identifier: Apache-2.0

"""
The node ``explorer``, which says on stderr what holds its heartbeat up.

That is the stack of each thread whenever no beat was published for so many seconds, by
``faulthandler``, which needs not wait for what holds the interpreter, and how long collections of
garbage take.

    python3 watched.py SECONDS --ros-args ...
"""

from __future__ import annotations

import faulthandler
import gc
import sys
import time
from typing import Any

from mnm_ros.nodes import explorer

LONG = 0.05    # s, for a collection


class Collections:
    """Tells of collections that take long."""

    def __init__(self) -> None:
        self._begun = 0.0

    def __call__(self, phase: str, told: dict[str, Any]) -> None:
        """Take note of the beginning or the end of one, as ``gc.callbacks`` has it."""
        if phase == 'start':
            self._begun = time.monotonic()
        elif (taken := time.monotonic() - self._begun) > LONG:
            print(f'{taken:.2f} s for a collection of generation {told["generation"]}, '
                  f'{told["collected"]} objects', file=sys.stderr, flush=True)


def main() -> int:
    """Run the node."""
    seconds = float(sys.argv.pop(1))
    beat = explorer.Explorer._beat

    def watched(node: explorer.Explorer) -> None:
        beat(node)
        faulthandler.dump_traceback_later(seconds, repeat=True)

    explorer.Explorer._beat = watched    # type: ignore[method-assign]
    gc.callbacks.append(Collections())
    return explorer.main()


if __name__ == '__main__':
    sys.exit(main())
