# Copyright 2026 mnm_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0
# Unless required by applicable law or agreed to in writing, software distributed under the License
# is distributed on an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express
# or implied. See the License for the specific language governing permissions and limitations under
# the License.

"""What has been heard of an explorer and its robot side, as plain data."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
import re

from mnm_ros.core.activity import Activity
from mnm_ros.robot_description import RobotDescription, UNDESCRIBED

Counts = Mapping[int, Mapping[int, Mapping[int, int]]]
"""State to action, RESET included, to next state to how often that was seen."""

NAMESPACE = re.compile(r'(?=.{1,60}$)[A-Za-z][A-Za-z0-9]*(_[A-Za-z0-9]+)*'
                       r'(/[A-Za-z][A-Za-z0-9]*(_[A-Za-z0-9]+)*)*')
"""Of one of several robots: of at most 60 characters, as names of topics are at most 255 long."""

MOST_ROBOTS = 100
"""Of an explorer: whoever looks on has several topics of each."""

NOT_KEPT = 'off'
"""What the diagnostics say of ``checkpoint`` without a ``checkpoint_dir``."""


@dataclass(frozen=True)
class RobotHeard:
    """
    How one of several robots of an explorer is.

    :ivar name: its namespace.
    :ivar level: ``ok``, ``warning`` or ``error``.
    :ivar status: a sentence for people: what it does, or why it does nothing.
    :ivar steps: that it has made; None if that is not known.
    :ivar place: the state that it is in; None if that is not known.
    """

    name: str
    level: str
    status: str
    steps: int | None = None
    place: int | None = None


class RobotsMet:
    """Which of several robots have been heard of, and which setting their simulators tell."""

    def __init__(self) -> None:
        self._met: set[str] = set()
        self._settings: dict[str, int] = {}

    def new(self, names: Iterable[str]) -> list[str]:
        """Return those that have not been heard of before, as long as there is room for them."""
        found = [name for name in dict.fromkeys(names) if name not in self._met]
        found = found[:MOST_ROBOTS - len(self._met)]
        self._met.update(found)
        return found

    def reached(self, robot: str, setting: int) -> int:
        """Take note of the setting of a robot; return the one that all have reached."""
        self._settings[robot] = setting
        return min(self._settings.values())


@dataclass(frozen=True)
class Heard:
    """
    The latest message of each topic; None or empty before the first one.

    :ivar known: ids of the known states, home first.
    :ivar counts: the transitions counted, since the last change noticed.
    :ivar activity: what is being done now.
    :ivar description: what the robot side says it is.
    :ivar report: the diagnostics of the explorer, text by key.
    :ivar reports: how many diagnostics have been heard.
    :ivar robots: how each robot is, if there are several.
    :ivar true_setting, exploration_steps: what a simulator tells.
    """

    known: tuple[int, ...] = ()
    counts: Counts = field(default_factory=dict)
    activity: Activity = Activity()
    description: RobotDescription = UNDESCRIBED
    report: Mapping[str, str] = field(default_factory=dict)
    reports: int = 0
    robots: tuple[RobotHeard, ...] = ()
    true_setting: int | None = None
    exploration_steps: int | None = None

    @property
    def occupied(self) -> tuple[int, ...]:
        """Return the states that robots are in; several are not where the exploration is."""
        if self.robots:
            places = (robot.place for robot in self.robots)
            return tuple(sorted({place for place in places if place is not None}))
        return () if self.activity.current is None else (self.activity.current,)

    def number(self, key: str) -> float | None:
        """Return a number of the diagnostics; None if it is missing or no sensible one."""
        try:
            value = float(self.report[key])
        except (KeyError, ValueError):
            return None
        return value if abs(value) < 2**63 else None

    def count(self, key: str) -> int | None:
        """Return a number of the diagnostics as an integer; None as above."""
        value = self.number(key)
        return None if value is None else int(value)
