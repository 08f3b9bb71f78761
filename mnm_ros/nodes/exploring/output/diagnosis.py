# SPDX-License-Identifier: Apache-2.0

"""What the level of the diagnostics is, and the sentence that goes with it."""

from __future__ import annotations

from diagnostic_msgs.msg import DiagnosticStatus
from mnm_ros.core.exploration import Exploration, Phase


def way_back(exploration: Exploration) -> str:
    """Return what leads out of a fault."""
    if exploration.recoverable:
        return 'the service recover leads back'
    return 'load what was saved, or clean the node up and configure it again'


def diagnosis(exploration: Exploration, status: str, standing_by: bool, disk: str,
              timeouts: int) -> tuple[bytes, str]:
    """
    Return the level and the message.

    :param exploration: what is told about.
    :param status: as it is published.
    :param standing_by: whether the robot is left to another explorer.
    :param disk: why not everything is kept in ``checkpoint_dir`` at the moment, or empty.
    :param timeouts: how often something had to be sent to the robot again since the last time.
    """
    if exploration.phase is Phase.FAULT:
        return DiagnosticStatus.ERROR, f'{status}; {way_back(exploration)}'
    misses = exploration.homing.misses_in_a_row
    reasons = [reason for reason, holds in (
        (f'not everything can be kept: {disk}', disk),
        (f'RESET has missed home {misses} times in a row', misses > 1),
        (f'the robot was asked again {timeouts} times since the last message, as it answers late '
         'or not at all', timeouts > 0)) if holds]
    message = '; '.join((status, *reasons))
    if exploration.phase is Phase.WAITING_FOR_ROBOT and not standing_by:
        return DiagnosticStatus.STALE, message
    warns = reasons or exploration.phase in (Phase.WAITING_FOR_ROBOT, Phase.PAUSED)
    return DiagnosticStatus.WARN if warns else DiagnosticStatus.OK, message
