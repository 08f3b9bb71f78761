# SPDX-License-Identifier: Apache-2.0

"""The explorer, with a replay that computes for ``SECONDS`` more."""

from __future__ import annotations

import sys
import time
from typing import Any

from mnm_ros.checkpoint.input_log import SavedInputs
from mnm_ros.nodes.explorer import main as explorer

SECONDS = 2.2    # of CPU time: more than a heartbeat may be late

_replay = SavedInputs.replay


def replay(saved: SavedInputs, exploration: Any, abandoned: Any) -> None:
    end = time.process_time() + SECONDS
    while time.process_time() < end and not abandoned():
        sum(range(1000))
    _replay(saved, exploration, abandoned)


def main() -> int:
    SavedInputs.replay = replay    # type: ignore[method-assign]
    return explorer()


if __name__ == '__main__':
    sys.exit(main())
