# SPDX-License-Identifier: Apache-2.0

"""Why no robot is commanded at the moment."""

from __future__ import annotations

from dataclasses import dataclass

from mnm_ros.core.progress.said.value import Said


@dataclass(frozen=True)
class RobotSilent(Said):
    """The robot has not answered for long."""


@dataclass(frozen=True)
class HomeCallFailed(Said):
    """The service ``return_home`` has failed; ``why`` in the words of the robot side."""

    why: str


@dataclass(frozen=True)
class NoDriver(Said):
    """No node commands the robot that is advised."""


@dataclass(frozen=True)
class NoRobotHome(Said):
    """None of several robots has come home yet."""


@dataclass(frozen=True)
class ReplayingDisk(Said):
    """What is on the disk is replayed first."""


@dataclass(frozen=True)
class NotDescribed(Said):
    """A robot side is there, and has not described itself yet."""


@dataclass(frozen=True)
class NotDescribedOn(Said):
    """No node describes a robot on these topics."""

    topics: str


@dataclass(frozen=True)
class NoActionsYet(Said):
    """A robot side is there, and has not named its actions yet."""


@dataclass(frozen=True)
class NoActions(NotDescribedOn):
    """A robot side is there, and does not name its actions."""


@dataclass(frozen=True)
class NoMovesYet(Said):
    """A robot side waits for a map, and has not declared yet where its actions lead."""


@dataclass(frozen=True)
class SeveralRobotSides(Said):
    """``count`` robot sides, with these names, would execute each command."""

    count: int
    nodes: str


@dataclass(frozen=True)
class CountingRobotSides(SeveralRobotSides):
    """The same, and a RESET is to show whether only one of them is alive."""


@dataclass(frozen=True)
class ListeningForExplorers(Said):
    """Another explorer that started earlier may still be heard."""


@dataclass(frozen=True)
class EarlierExplorer(Said):
    """Another explorer, which started earlier, commands the robot."""


@dataclass(frozen=True)
class CommandedBy(Said):
    """The robot side takes the commands of this node alone."""

    node: str


@dataclass(frozen=True)
class OtherCommands(Said):
    """Another node publishes commands on this topic."""

    topic: str


@dataclass(frozen=True)
class BagPlayed(Said):
    """These nodes play a bag on a topic of the robot, whose messages may be old."""

    nodes: str


@dataclass(frozen=True)
class NoPublisher(Said):
    """No node publishes this topic, which is needed."""

    topic: str


@dataclass(frozen=True)
class NoSubscriber(Said):
    """No node subscribes to this topic, which is needed."""

    topic: str


@dataclass(frozen=True)
class NoService(Said):
    """No node offers this service, which is needed."""

    service: str
