# SPDX-License-Identifier: Apache-2.0

"""Libraries that the core imports on first use, as it takes longer than all else in its start."""

from __future__ import annotations

import gc


def load() -> None:
    """Import them now, which takes a second on a busy machine."""
    import scipy.sparse.csgraph
    import scipy.sparse.linalg
    import scipy.special  # noqa: F401 - one of three
    if gc.get_freeze_count():    # no collection is to look at these either
        gc.freeze()
