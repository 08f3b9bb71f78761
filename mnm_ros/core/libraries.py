# SPDX-License-Identifier: Apache-2.0

"""Libraries that the core imports on first use, as it takes longer than all else in its start."""

from __future__ import annotations

import gc
from importlib import import_module
import sys

_NAMES = ('scipy.sparse.csgraph', 'scipy.sparse.linalg', 'scipy.special')


def load() -> None:
    """Import them now, which takes a second on a busy machine; no effect once they are there."""
    missing = [name for name in _NAMES if name not in sys.modules]
    for name in missing:
        import_module(name)
    if missing and gc.get_freeze_count():
        gc.freeze()    # no collection is to examine these either
