# SPDX-License-Identifier: Apache-2.0

"""The explorer, with a disk that takes 10 s for each write."""

from __future__ import annotations

import sys
import time
from typing import Any

from mnm_ros.checkpoint.input_log import InputLog
from mnm_ros.nodes.explorer import main as explorer

_append = InputLog.append


def append(*arguments: Any) -> Any:
    time.sleep(10.0)
    return _append(*arguments)


def main() -> int:
    InputLog.append = append    # type: ignore[method-assign]
    return explorer()


if __name__ == '__main__':
    sys.exit(main())
