# SPDX-License-Identifier: Apache-2.0

"""The explorer, with a replay that takes ``SECONDS`` more, and until a file is there."""

from __future__ import annotations

import os
from pathlib import Path
import sys
import time
from typing import Any

from mnm_ros.checkpoint.input_log import SavedInputs
from mnm_ros.nodes.explorer import main as explorer

SECONDS = 2.2    # more than a heartbeat may be late

_replay = SavedInputs.replay


def replay(saved: SavedInputs, exploration: Any, abandoned: Any) -> None:
    computes = bool(os.environ['REPLAY_COMPUTES'])    # else it waits
    clock = time.process_time if computes else time.monotonic
    end = clock() + SECONDS
    heard = Path(os.environ['REPLAY_UNTIL'])    # a node may be discovered late
    while not abandoned() and (clock() < end or not heard.exists()):
        if computes:
            sum(range(1000))
        else:
            time.sleep(0.01)
    _replay(saved, exploration, abandoned)


def main() -> int:
    SavedInputs.replay = replay    # type: ignore[method-assign]
    return explorer()


if __name__ == '__main__':
    sys.exit(main())
