# SPDX-License-Identifier: Apache-2.0

"""Ways of the learnt graph as paths for nav2's clients, and as nav2's planner would send them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
import math
import time
from typing import Any, NamedTuple, Union

from geometry_msgs.msg import PoseStamped
from mnm_ros import messages
from mnm_ros.core.knowledge.knowledge import Knowledge
from mnm_ros.export.direct_edges import DirectEdges
from mnm_ros.language import ENGLISH, Phrase, text_in
from mnm_ros.nodes.navigating.learnt_policies import LearntPolicies
from mnm_ros.nodes.navigating.nav2_server import Nav2Server
from mnm_ros.nodes.navigating.place_finder import GOAL_OUTSIDE_MAP, PlaceFinder, Refusal
from nav_msgs.msg import Path
from rclpy.duration import Duration
from rclpy.node import Node
from rclpy.subscription import Subscription
from std_msgs.msg import Int64MultiArray

_KINDS = {'compute_path_to_pose': 'ComputePathToPose',
          'compute_path_through_poses': 'ComputePathThroughPoses'}
_WAIT = 5.0     # s, for the model
_KEEP = 10.0    # s, for which the model is heard after the last answer

# As nav2 calls them in ComputePathToPose; those of ComputePathThroughPoses are 100 more.
_INVALID_PLANNER, _START_OUTSIDE_MAP, _TIMEOUT, _NO_VALID_PATH, _THROUGH = 201, 203, 207, 208, 100


class _Question(NamedTuple):
    """
    A path that is asked for.

    :ivar stops: the states that it leads to, one after the other, from the first.
    :ivar asked: when.
    """

    server: Nav2Server
    handle: Any
    stops: tuple[int, ...]
    asked: float


class PathAnswers:
    """
    Serves the actions by which nav2's clients ask for a path. No robot moves for them.

    The model of the explorer is heard only while paths are asked for.

    :param places: what poses mean.
    :param here: returns the state that the robot was last seen in, if any.
    :param language: of the answers.
    """

    def __init__(self, node: Node, places: PlaceFinder, learnt: LearntPolicies,
                 here: Callable[[], int | None], language: str) -> None:
        self._node, self._places, self._learnt, self._here = node, places, learnt, here
        self._language = language
        self._questions: list[_Question] = []
        self._model: Subscription | None = None
        self._known: Knowledge | None = None    # by the last model
        self._until = -math.inf    # which it is heard
        self._servers = [Nav2Server(node, name, kind, places, self._take)
                         for name, kind in _KINDS.items()]

    @property
    def idle(self) -> bool:
        """Whether every question has got its answer."""
        return not self._questions and all(server.idle for server in self._servers)

    def look(self) -> None:
        """Serve what is free; to be called now and then."""
        for server in self._servers:
            server.look()

    def tick(self, now: float) -> None:
        """Answer what can be answered by now."""
        if self._questions and self._known is not None:
            questions, self._questions = self._questions, []
            graph = DirectEdges.of(self._known, {
                state for state in self._known.known if state in
                self._places.description.positions})
            for question in questions:
                self._answer(question, graph, now)
        late = [each for each in self._questions if now >= each.asked + _WAIT]
        self._questions = [each for each in self._questions if each not in late]
        for question in late:
            self._refuse(question.server, question.handle, Refusal(
                _TIMEOUT, Phrase.of('poses.no_model', seconds=_WAIT)))
        if self._model is not None and not self._questions and now >= self._until:
            self._node.destroy_subscription(self._model)
            self._model = self._known = None

    def _take(self, server: Nav2Server, handle: Any) -> None:
        asked = handle.request
        goals = (getattr(asked.goals, 'goals', asked.goals) if hasattr(asked, 'goals')
                 else [asked.goal])
        stops = self._stops(asked, goals)
        if isinstance(stops, Refusal):
            self._refuse(server, handle, stops)
            return
        now = time.monotonic()
        self._questions.append(_Question(server, handle, stops, now))
        self._until = now + _KEEP
        if self._model is None:
            self._model = messages.hear(
                self._node, Int64MultiArray, 'model', messages.LATCHED, messages.decode_model,
                self._on_model)

    def _on_model(self, model: messages.Model) -> None:
        self._known = self._learnt.knowledge(model.counts)

    def _stops(self, asked: Any, goals: Sequence[PoseStamped]) -> Union[tuple[int, ...], Refusal]:
        """Return the states that a path is asked for from and to, or why there is none."""
        if asked.planner_id:
            return Refusal(_INVALID_PLANNER, Phrase.of(
                'poses.planner', planner=repr(asked.planner_id)))
        if not goals:
            return Refusal(GOAL_OUTSIDE_MAP, Phrase.of('poses.no_goal'))
        start = self._places.place(asked.start) if asked.use_start else self._here()
        if start is None:
            return Refusal(_START_OUTSIDE_MAP, Phrase.of('poses.robot_not_heard'))
        if isinstance(start, Refusal):
            code = _START_OUTSIDE_MAP if start.code == GOAL_OUTSIDE_MAP else start.code
            return Refusal(code, Phrase.of('poses.start', why=start.why))
        ends = [self._places.place(goal) for goal in goals]
        refused = next((end for end in ends if isinstance(end, Refusal)), None)
        return refused or (start, *(end for end in ends if not isinstance(end, Refusal)))

    def _answer(self, question: _Question, graph: DirectEdges, now: float) -> None:
        described, states = self._places.description, [question.stops[0]]
        for start, end in zip(question.stops, question.stops[1:]):
            route = graph.route(start, end)
            if route is None or start not in described.positions:
                self._refuse(question.server, question.handle, Refusal(
                    _NO_VALID_PATH, Phrase.of('poses.no_edges', start=described.label(start),
                                              end=described.label(end))))
                return
            states += [edge.following for edge in route]
        path = Path()
        path.header.frame_id = described.frame
        path.header.stamp = self._node.get_clock().now().to_msg()
        path.poses = [self._pose(path.header, states, index) for index in range(len(states))]
        question.server.succeed(question.handle, path=path, planning_time=Duration(
            seconds=now - question.asked).to_msg())

    def _pose(self, header: Any, states: Sequence[int], index: int) -> PoseStamped:
        """Return the place of a state of a path, with the heading to the next one."""
        places, pose = self._places.description.positions, PoseStamped(header=header)
        pose.pose.position.x, pose.pose.position.y = map(float, places[states[index]])
        ahead = min(index, max(0, len(states) - 2))
        if len(states) > 1:
            (x, y), (to_x, to_y) = places[states[ahead]], places[states[ahead + 1]]
            half = math.atan2(to_y - y, to_x - x) / 2
            pose.pose.orientation.z, pose.pose.orientation.w = math.sin(half), math.cos(half)
        return pose

    def _refuse(self, server: Nav2Server, handle: Any, refusal: Refusal) -> None:
        self._node.get_logger().info(f'refused a path: {text_in(ENGLISH, refusal.why)}')
        through = hasattr(handle.request, 'goals')
        server.abort(handle, refusal.code + through * _THROUGH,
                     text_in(self._language, refusal.why))
