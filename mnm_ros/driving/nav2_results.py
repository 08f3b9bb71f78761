# SPDX-License-Identifier: Apache-2.0

"""What it means for a leg how nav2 has ended a goal, which ``drive: nav2`` asks."""

from __future__ import annotations

from typing import Any

from mnm_ros.driving.drive import Outcome

_SUCCEEDED, _CANCELED, _ABORTED = 4, 5, 6    # of action_msgs/GoalStatus

_OF_A_PLANNER = (
    'UNKNOWN', 'INVALID_PLANNER', 'TF_ERROR', 'START_OUTSIDE_MAP', 'GOAL_OUTSIDE_MAP',
    'START_OCCUPIED', 'GOAL_OCCUPIED', 'TIMEOUT', 'NO_VALID_PATH')
ERRORS = {first + number: name for first, names in (
    (100, ('UNKNOWN', 'INVALID_CONTROLLER', 'TF_ERROR', 'INVALID_PATH', 'PATIENCE_EXCEEDED',
           'FAILED_TO_MAKE_PROGRESS', 'NO_VALID_CONTROL', 'CONTROLLER_TIMED_OUT')),
    (200, _OF_A_PLANNER), (300, _OF_A_PLANNER),
    (9000, ('UNKNOWN', 'FAILED_TO_LOAD_BEHAVIOR_TREE', 'TF_ERROR', 'TIMEOUT')),
) for number, name in enumerate(names)}
"""
What nav2 calls the values of ``error_code``.

Those of FollowPath, ComputePathToPose, ComputePathThroughPoses and, since Kilted,
NavigateToPose, which hands the others on.
"""

OBSTACLES = ('START_OCCUPIED', 'GOAL_OCCUPIED', 'NO_VALID_PATH', 'FAILED_TO_MAKE_PROGRESS')
"""The errors that say something about the world; all others are faults of nav2 itself."""


def judge(status: int, result: Any, retreat: bool) -> tuple[Outcome, str]:
    """
    Return what the end of a goal means, and what nav2 says about it.

    :param status: of ``action_msgs/GoalStatus``.
    :param result: of ``NavigateToPose``. That of Humble has no ``error_code``: then a goal that is
        abandoned counts as blocked if nav2 can lead the robot back, and so is not at fault itself.
    :param retreat: whether the goal led back to where the robot had come from.
    """
    if status == _SUCCEEDED:
        return Outcome.REACHED, ''
    if status == _CANCELED:
        return Outcome.STOPPED, 'another client has cancelled the goal of nav2'
    if status != _ABORTED:    # a server that was started since does not know it
        return Outcome.BROKEN_OFF, f'nav2 has ended the goal with status {status}'
    code = getattr(result, 'error_code', None)
    if code is None:
        return (Outcome.BROKEN_OFF if retreat else Outcome.BLOCKED,
                'nav2 has given up the goal and does not say why')
    name, text = ERRORS.get(code, ''), getattr(result, 'error_msg', '')
    words = ' '.join(filter(None, (f'nav2: error_code {code}', name, text)))
    return Outcome.BLOCKED if name in OBSTACLES else Outcome.BROKEN_OFF, words
