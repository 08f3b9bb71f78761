# SPDX-License-Identifier: Apache-2.0

"""What has happened to the nodes around the exploration, and to what they declare."""

from __future__ import annotations

from dataclasses import dataclass

from mnm_ros.core.progress.said.value import Nested, Said


@dataclass(frozen=True)
class InSteps(Said):
    """What reaching a goal took."""

    steps: int


@dataclass(frozen=True)
class NodeEnding(Said):
    """The node of the explorer is ending."""


@dataclass(frozen=True)
class GoesOn(Said):
    """The robot explores again."""


@dataclass(frozen=True)
class Restarted(Said):
    """The exploration goes on from what was kept."""

    step: int


@dataclass(frozen=True)
class NothingSaved(Said):
    """Nothing was written to the disk, and why."""

    said: Nested


@dataclass(frozen=True)
class NothingKept(Said):
    """The explorer has no folder in which it keeps anything."""


@dataclass(frozen=True)
class ReadingDisk(Said):
    """What is on the disk is being read, so nothing is written."""


@dataclass(frozen=True)
class DiskTooSlow(Said):
    """The disk has not written in time."""


@dataclass(frozen=True)
class NothingDeclared(Said):
    """No declaration holds any more."""


@dataclass(frozen=True)
class DeclaredByRobotSide(Said):
    """The robot side declares where the actions of ``count`` states lead."""

    count: int


@dataclass(frozen=True)
class DeclaredInFile(DeclaredByRobotSide):
    """The same, declared in a file."""

    file: str


@dataclass(frozen=True)
class NeverCommanded(Said):
    """The same, and ``count`` pairs are never to be commanded."""

    said: Nested
    count: int


@dataclass(frozen=True)
class SettingChanged(Said):
    """A parameter of a node has changed, from one value to another."""

    node: str
    setting: str
    before: str
    now: str


@dataclass(frozen=True)
class TooManyCalls(Said):
    """More calls a second came by these topics and services than are served."""

    entries: str
