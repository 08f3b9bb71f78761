# SPDX-License-Identifier: Apache-2.0

"""``route_driver`` with nav2 as the mover: a server of the real type drives the robot."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from math import atan2, cos, dist, sin
import os
from pathlib import Path

from geometry_msgs.msg import PoseWithCovarianceStamped
from mnm_ros import messages
from mnm_ros.core.progress.events import Event
from mnm_ros.driving.occupancy import Point
from mnm_ros.places.graph_file import read_graph
from mnm_ros.places.place_graph import Edge
from mnm_ros.simulation.graph_world import GraphWorld
from navigating import Operator
from node_processes import Peer
from std_msgs.msg import Int64MultiArray, String
from std_srvs.srv import SetBool, Trigger
from test_nav2_mover import Server, with_nav2
from test_route_driver import PLACES, RING, write

_TICK = 0.002    # s between two poses,
_STEP = 0.1      # s between their stamps, and m between their places
_CLOSE = 0.4     # m from the middle of a crate, at which nav2 gives up
_LONG = 900.0    # s, for a whole house
_DRIVES = 25     # along each edge, before a passage closes


class Robot:
    """
    Drives straight to the goals of nav2, up to a crate.

    :ivar crate: its middle; None for none.
    :ivar given_up: how many goals at each point nav2 has aborted.
    """

    def __init__(self, peer: Peer, at: Point) -> None:
        self.at, self.yaw, self.now = at, 0.0, 1000.0
        self.crate: Point | None = None
        self.given_up: Counter[Point] = Counter()
        self._nav2 = Server(peer)
        self._poses = peer.node.create_publisher(PoseWithCovarianceStamped, 'amcl_pose', 10)
        peer.node.create_timer(_TICK, self._tick)

    def _tick(self) -> None:
        self.now += _STEP
        if self._nav2.goals:
            self._drive()
        pose = PoseWithCovarianceStamped()
        pose.header.frame_id = 'map'
        pose.header.stamp.sec, pose.header.stamp.nanosec = int(self.now), int(self.now % 1 * 1e9)
        pose.pose.pose.position.x, pose.pose.pose.position.y = self.at
        pose.pose.pose.orientation.z = sin(self.yaw / 2)
        pose.pose.pose.orientation.w = cos(self.yaw / 2)
        self._poses.publish(pose)

    def _drive(self) -> None:
        position = self._nav2.goals[-1][0].request.pose.pose.position
        goal = position.x, position.y
        part = min(1.0, _STEP / (dist(self.at, goal) or _STEP))
        there = tuple(here + part * (end - here) for here, end in zip(self.at, goal))
        if self.crate and dist(there, self.crate) < min(_CLOSE, dist(self.at, self.crate)):
            self.given_up[goal] += 1
            self._nav2.end('abort', **({'error_code': 105} if hasattr(
                self._nav2.kind.Result(), 'error_code') else {}))
            return
        self.yaw = atan2(goal[1] - self.at[1], goal[0] - self.at[0])
        self.at = there[0], there[1]
        if part == 1.0:
            self._nav2.end('succeed')


@with_nav2
def test_a_graph_is_learnt_and_a_passage_that_closes_and_opens(
        start: Callable, peer: Peer, tmp_path: Path) -> None:
    """MNM_GRAPH names another graph, such as one of a house."""
    path = os.environ.get('MNM_GRAPH') or write(tmp_path, PLACES, RING)
    world = GraphWorld.of(read_graph(Path(path)))
    graph, (one, other) = world.route.graph, min(world.route.closing)
    crate, = world.doors.values()
    middle, = world.map.points([[sum(each) / len(crate) + 0.5 for each in zip(*crate)]]).tolist()
    robot = Robot(peer, world.home_pose[:2])
    known = peer.listen(Int64MultiArray, 'known_states')
    heard = peer.listen(String, 'events', messages.EVENTS)
    phase = peer.listen(String, 'phase', messages.LATCHED)
    answers = peer.listen(Int64MultiArray, 'state', messages.STEP)
    processes = [
        start('route_driver', drive='nav2', pose_source='amcl_pose', graph=path, max_speed=1.0),
        start('explorer', radius=0.0, delta=0.5, step_timeout=60.0, first_look=86400.0),
        start('navigator', dwell=0.0)]

    def events() -> list[str]:
        return [Event.from_json(message.data).text for message in heard]

    def closed() -> set[Edge]:
        """Return the edges of which an event says that they lead nowhere, or may do so."""
        changes = [event.change for message in heard if (event := Event.from_json(
            message.data)).kind in ('change', 'hint') and event.change is not None]
        return {graph.outgoing(change.state)[change.action] for change in changes
                if change.closed}

    def tries(edge: Edge) -> int:
        """Return how often the robot has been held up on the way along an edge."""
        place = graph.places[edge.end]
        return sum(times for goal, times in robot.given_up.items()
                   if dist(goal, (place.x, place.y)) < graph.zone(edge.end) / 2)
    peer.wait_for(lambda: known and {*known[-1].data[2:]} == {*graph.places}, 'all places', _LONG)
    learnt = len(answers)
    peer.wait_for(lambda: len(answers) > _DRIVES * len(graph.edges), 'drives along all', _LONG)
    assert not robot.given_up
    robot.crate = middle[0], middle[1]
    peer.wait_for(lambda: any('blocked' in text for text in events()), 'the change', _LONG)
    peer.wait_for(lambda: any('relearnt' in text for text in events()), 'the end of it', _LONG)
    peer.wait_for(lambda: {*known[-1].data[2:]} == {*graph.places}, 'all places again', _LONG)
    operator = Operator(peer)
    operator.wait_for_navigator()
    # An exploration tries a closed way now and then, and a goal must not. The way back is another
    # edge. If its closing is not known yet, a goal tries that edge, but not after it is known.
    assert peer.call(SetBool, 'explore', SetBool.Request(data=False)).success
    peer.wait_for(lambda: phase and phase[-1].data == 'paused', 'the pause', _LONG)
    for goal in (one, other, one):
        before = {edge: tries(edge) for edge in closed()}
        assert before
        assert operator.go(goal).startswith('reached'), goal
        place = graph.places[goal]
        assert dist(robot.at, (place.x, place.y)) < graph.zone(goal) + _STEP
        assert {edge: tries(edge) for edge in before} == before
    passage = [edge for edge in graph.actions_of if {edge.start, edge.end} == {one, other}]
    assert sum(map(tries, passage)) == robot.given_up.total()    # nothing else is in the way
    assert peer.call(SetBool, 'explore', SetBool.Request(data=True)).success
    robot.crate = None
    peer.call(Trigger, 'look')    # which is refused if the passage is only suspected
    peer.wait_for(lambda: any('is open again' in text or 'works again' in text
                              for text in events()), 'the opening', _LONG)
    print(learnt, 'answers until all places were known;', *events(), sep='\n')
    for process in reversed(processes):
        assert process.stop() == 0, process.output
