# SPDX-License-Identifier: Apache-2.0

"""What an explorer publishes for observers, worked out in a copy of its process."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
import os
import time

from mnm_ros.core.continuation import Continuation
from mnm_ros.core.exploration import Exploration
from mnm_ros.core.progress.activity import ClosedWay
from mnm_ros.core.progress.trust import TrustedPolicy
from mnm_ros.core.task.step_task import RunState
from mnm_ros.core.view import View
from mnm_ros.robot_description import RobotDescription
from mnm_ros.view.sentences import sentence

_MOST_LOOKS = 8    # certificates worked out each time
_LONG = 0.1        # s of computing, for these: among 1,000 states one may take as long
_NICE = 10         # of what may take long


def activity(exploration: Exploration, view: View, status: str, closed: tuple[ClosedWay, ...],
             names: RobotDescription, seen: int | None, language: str) -> str:
    """
    Return the text of ``activity``.

    :param status: as it is published; while nothing is done, the activity says why as that does.
    :param closed: the ways that are closed.
    :param seen: the last state that the robot has reported, also on the way to a goal; None if
        it has not reported any.
    """
    found = exploration.activity(view)
    running = exploration.state is RunState.RUNNING
    return replace(
        found, closed=closed, current=found.current if seen is None else seen,
        sentence=sentence(found.said, names, language) if running else status).to_json()


def played_on(exploration: Exploration, continuation: Continuation) -> Continuation:
    """Play an exploration on, beside all that is more urgent."""
    os.nice(_NICE)
    view = View()
    view.continuation = continuation
    exploration.play_on(view)
    return view.continuation


def trusted(exploration: Exploration, view: View, seconds: Mapping[int, float],
            names: RobotDescription, language: str) -> tuple[TrustedPolicy, ...]:
    """Return the policies there are, each of which is examined in its turn."""
    begun = time.thread_time()
    told = tuple(replace(each.timed(seconds), why=sentence(each.said, names, language))
                 for each in exploration.trust(view.looks, view))
    view.looks = (min(_MOST_LOOKS, view.looks + 1) if time.thread_time() < begun + _LONG
                  else max(1, view.looks // 2))
    return told
