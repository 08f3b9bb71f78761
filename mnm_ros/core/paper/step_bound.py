# SPDX-License-Identifier: Apache-2.0

"""The printed bound on the steps of a rediscovery."""

from __future__ import annotations

import math

from mnm_ros.core.mnm.options import Settings


def printed_step_bound(settings: Settings, known: int) -> int:
    """
    Return ``W_r = C1 |K| A L^3 / epsilon^3 log(C2 |K| A L / (epsilon delta_r))^3``.

    Source: Gajane et al. 2019.
    """
    problem = settings.problem
    size = known * problem.all_actions * problem.radius
    log = math.log(settings.c2 * size / (problem.epsilon * problem.delta))
    return math.ceil(settings.c1 * size * problem.radius ** 2 / problem.epsilon ** 3 * log ** 3)
