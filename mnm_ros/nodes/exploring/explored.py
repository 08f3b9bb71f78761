# SPDX-License-Identifier: Apache-2.0

"""What has the exploration, for topics that ask it something."""

from __future__ import annotations

from typing import Protocol

from mnm_ros.core.exploration import Exploration


class Explored(Protocol):
    """Whoever has what is explored: after something was loaded, that is another exploration."""

    @property
    def exploration(self) -> Exploration:
        """Return the present one."""
