# SPDX-License-Identifier: Apache-2.0

"""Objects of the core that are written down and made again, as a checkpoint does it."""

from __future__ import annotations

import json
from typing import Any

from mnm_ros.core.model import snapshot


def again(thing: Any, fresh: Any = None) -> Any:
    """Return what goes on from a snapshot of an object, put into a fresh one if there is one."""
    return snapshot.put(json.loads(json.dumps(snapshot.take(thing))), fresh)
