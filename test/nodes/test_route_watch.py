# SPDX-License-Identifier: Apache-2.0

"""``route_watch`` tells an advisory explorer of the drives of nav2, which are played here."""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
import json
from pathlib import Path
from typing import Any

from action_msgs.msg import GoalInfo, GoalStatus, GoalStatusArray
from geometry_msgs.msg import PoseWithCovarianceStamped
from mnm_ros import messages
from mnm_ros.core.progress.activity import Activity
from mnm_ros.driving.grid import OUTSIDE
from mnm_ros.protocol.exchange import REPORT
from node_processes import Peer
import pytest
from std_msgs.msg import Int64MultiArray, String

HERE, THERE, FAR = range(3)
TRACKING, DRIVING = 'compute_and_track_route', 'navigate_to_pose'


@pytest.fixture
def graph(tmp_path: Path) -> str:
    """Return three places in a row, 4 m apart."""
    path = tmp_path / 'row.geojson'
    path.write_text(json.dumps({'features': [
        *({'properties': {'id': place}, 'geometry': {'type': 'Point', 'coordinates': [
            4.0 * place, 0.0]}} for place in (HERE, THERE, FAR)),
        *({'properties': {'id': 10 + number, 'startid': start, 'endid': end},
           'geometry': {'type': 'LineString'}} for number, (start, end) in enumerate(
               [(HERE, THERE), (THERE, HERE), (THERE, FAR), (FAR, THERE)]))]}))
    return str(path)


@pytest.mark.skipif(bool(find_spec('nav2_msgs')), reason='nav2_msgs is installed')
def test_without_a_route_server_it_says_so(start: Callable, graph: str) -> None:
    watch = start('route_watch', graph=graph)
    assert watch.wait() == 1
    assert 'needs the package nav2_msgs with the action ComputeAndTrackRoute' in watch.output


class Nav2:
    """Publishes what nav2 would, and where the robot is."""

    def __init__(self, peer: Peer) -> None:
        from nav2_msgs.action import ComputeAndTrackRoute
        self._peer, self._kind = peer, ComputeAndTrackRoute
        create = peer.node.create_publisher
        self._poses = create(PoseWithCovarianceStamped, 'amcl_pose', messages.STEP)
        self._feedback = create(ComputeAndTrackRoute.Impl.FeedbackMessage,
                                f'{TRACKING}/_action/feedback', messages.STEP)
        self._statuses = {action: create(
            GoalStatusArray, f'{action}/_action/status', messages.LATCHED)
            for action in (TRACKING, DRIVING)}
        for heard in (self._poses, self._feedback, *self._statuses.values()):
            peer.wait_for(heard.get_subscription_count, heard.topic_name)

    def tracks(self, edge: int) -> None:
        message = self._kind.Impl.FeedbackMessage()
        message.feedback.current_edge_id = edge
        self._publish(self._feedback, message)

    def drives(self, *along: float) -> None:
        for x in along:
            message = PoseWithCovarianceStamped()
            message.header.stamp = self._peer.node.get_clock().now().to_msg()
            message.header.frame_id = 'map'
            message.pose.pose.position.x, message.pose.pose.orientation.w = x, 1.0
            self._publish(self._poses, message)

    def ends(self, action: str, goal: int, status: int) -> None:
        ended = GoalStatus(goal_info=GoalInfo(), status=status)
        ended.goal_info.goal_id.uuid[0] = goal
        self._publish(self._statuses[action], GoalStatusArray(status_list=[ended]))

    def _publish(self, publisher: Any, message: Any) -> None:
        publisher.publish(message)
        self._peer.spin(0.1)    # messages of several topics are in no command


@pytest.mark.skipif(not find_spec('nav2_msgs'), reason='nav2_msgs is not installed')
def test_drives_that_arrive_fail_and_are_called_off(
        peer: Peer, start: Callable, graph: str) -> None:
    work, states = peer.listen(Int64MultiArray, 'work', messages.STEP), peer.listen(
        Int64MultiArray, 'state', messages.STEP)
    activity = peer.listen(String, 'activity')
    start('route_watch', graph=graph, pose_source='amcl_pose', home_place='0')
    start('explorer', advisory=True, radius=0.0)
    nav2 = Nav2(peer)

    def counted() -> int:
        return Activity.from_json(activity[-1].data).work if activity else 0

    def there_and_back() -> bool:    # until the explorer knows the name of who tells it
        nav2.tracks(10)
        nav2.drives(0.8, 1.6, 2.4, 3.2)
        nav2.tracks(11)
        nav2.drives(2.4, 1.6, 0.8)
        return bool(counted())

    nav2.drives(0.0)
    peer.wait_for(there_and_back, 'a drive that counts')
    peer.wait_for_rest(lambda: (counted(), len(work)), 'all of them')
    before, number = counted(), len(work)
    assert {tuple(each.data) for each in work} == {(HERE, 0, THERE), (THERE, 0, HERE)}
    assert [tuple(each.data) for each in states[:5]] == [
        (REPORT, state) for state in (HERE, OUTSIDE, THERE, OUTSIDE, HERE)]

    def told(*wanted: tuple[int, ...]) -> None:
        peer.wait_for(lambda: [tuple(each.data) for each in work[number:]] == [*wanted],
                      f'{wanted}')

    nav2.tracks(10)
    nav2.drives(1.6, 2.4, 3.2)
    nav2.tracks(12)
    nav2.drives(4.0, 4.8, 5.6)
    nav2.ends(TRACKING, 1, GoalStatus.STATUS_CANCELED)    # as its navigator has given up
    nav2.ends(DRIVING, 1, GoalStatus.STATUS_ABORTED)
    told((HERE, 0, THERE), (THERE, 1, OUTSIDE))
    nav2.drives(4.8, 4.0)
    nav2.tracks(11)
    nav2.drives(3.2, 2.4, 1.6)
    nav2.ends(TRACKING, 2, GoalStatus.STATUS_CANCELED)
    nav2.ends(DRIVING, 2, GoalStatus.STATUS_CANCELED)    # by a person
    told((HERE, 0, THERE), (THERE, 1, OUTSIDE), (THERE, 0))
    peer.wait_for(lambda: counted() == before + 3, 'what the explorer has learnt')
