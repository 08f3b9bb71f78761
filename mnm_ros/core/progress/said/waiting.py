# SPDX-License-Identifier: Apache-2.0

"""Why no robot is commanded at the moment."""

from __future__ import annotations

from mnm_ros.core.progress.said.value import Said


class RobotSilent(Said):
    """The robot has not answered for long."""


class HomeCallFailed(Said):
    """The service ``return_home`` has failed; ``why`` in the words of the robot side."""

    why: str


class NoDriver(Said):
    """No node commands the robot that is advised."""


class NoRobotHome(Said):
    """None of several robots has come home yet."""


class ReplayingDisk(Said):
    """What is on the disk is replayed first."""


class NotDescribed(Said):
    """A robot side is there, and has not described itself yet."""


class NotDescribedOn(Said):
    """No node describes a robot on these topics, in a ROS domain."""

    topics: str
    domain: str


class NoActionsYet(Said):
    """A robot side is there, and has not named its actions yet."""


class NoActions(Said):
    """A robot side is there, and does not name its actions on these topics."""

    topics: str


class NoMovesYet(Said):
    """A robot side waits for a map, and has not declared yet where its actions lead."""


class SeveralRobotSides(Said):
    """``count`` robot sides, with these names, would execute each command."""

    count: int
    nodes: str


class CountingRobotSides(SeveralRobotSides):
    """The same, and a RESET is to show whether only one of them is alive."""


class ListeningForExplorers(Said):
    """Another explorer that started earlier may still be heard."""


class EarlierExplorer(Said):
    """Another explorer, which started earlier, commands the robot; ``nodes`` are the others."""

    nodes: str
    domain: str


class CommandedBy(Said):
    """The robot side takes the commands of this node alone."""

    node: str


class OtherCommands(Said):
    """Another node publishes commands on this topic."""

    topic: str


class BagPlayed(Said):
    """These nodes play a bag on a topic of the robot, whose messages may be old."""

    nodes: str


class NoPublisher(Said):
    """No node publishes this topic, which is needed."""

    topic: str


class NoSubscriber(Said):
    """No node subscribes to this topic, which is needed."""

    topic: str


class NoService(Said):
    """No node offers this service, which is needed."""

    service: str
