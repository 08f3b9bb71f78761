# SPDX-License-Identifier: Apache-2.0

"""What is drawn where, with and without positions of the robot side, and how it changes."""

from __future__ import annotations

from dataclasses import replace
import math
import pickle
import time
from types import SimpleNamespace
from typing import Any

from mnm_ros import lookout
from mnm_ros.core.knowledge.knowledge import Knowledge, nested
from mnm_ros.core.model.policy import Hypothesis, Policy
from mnm_ros.core.model.problem import RESET
from mnm_ros.core.progress.trust import PolicyTrust, Trust
from mnm_ros.nodes.exploring.output.markers import Markers, PictureTopic
from mnm_ros.robot_description import RobotDescription, UNDESCRIBED
from mnm_ros.view.layout import STRIDE
from mnm_ros.view.shapes import Caption, NAMESPACES, spacing
from node_processes import DEADLINE
import pytest
from rclpy.serialization import deserialize_message
from screen import Screen
from visualization_msgs.msg import Marker, MarkerArray

HYPOTHESIS = Hypothesis(1, 1, 8, tuple(
    Policy(target, 8, (3, 4), ((0, 1),)) for target in (3, 4)))
Counts = dict[tuple[int, int], dict[int, int]]
PLACED = RobotDescription(
    ('a', 'b'), 3, 'map', {3: 'dock'}, {3: (10.0, 20.0), 4: (10.0, 20.5)},
    ((9.0, 9.0, 9.0, 11.0),))


def knowledge(counts: Counts | None = None, hypothesis: Hypothesis | None = HYPOTHESIS,
              last_state: int | None = 4, home: int | None = 3, **fields: Any) -> Knowledge:
    """Return what is known while a change is open, so that there are candidates."""
    rows = [(*pair, after, count) for pair, following in (
        {(3, 0): {4: 9}} if counts is None else counts).items()
        for after, count in following.items()]
    policies = hypothesis.policies if hypothesis else ()
    return Knowledge(
        9, home, tuple(policy.target for policy in policies), revising=True, counts=nested(rows),
        here=() if last_state is None else (last_state,),
        policies={policy.target: policy for policy in policies}, **fields)


def draw(description: RobotDescription, **attributes: object) -> Screen:
    return Screen(Markers().draw(knowledge(**attributes), description))


@pytest.mark.parametrize('description', [UNDESCRIBED, RobotDescription(('a', 'b'), 3, 'map')])
def test_states_without_a_place_never_lie_over_a_map(
        description: RobotDescription) -> None:
    picture = draw(description)
    assert picture.frames == {'mnm_states'}
    assert picture.places('known') == [(0, 0), (1, 0)]
    assert picture.labels() == ['3', '4']


def test_a_state_is_laid_out_by_what_leads_there_though_that_is_not_shown() -> None:
    """While the first hypothesis is built, only candidates and the present state are shown."""
    chain = {(state, 0): {state + 1: 9} for state in range(6)}
    picture = draw(
        UNDESCRIBED, hypothesis=None, home=0, candidates=(5, 6), last_state=0, counts=chain)
    (home,), candidates = picture.places('current'), picture.places('candidates')
    assert 0.5 < math.dist(*candidates) < 1.5
    assert all(math.dist(home, candidate) > 3 for candidate in candidates)


def test_shown_states_do_not_jump_when_another_one_is_met() -> None:
    markers, screen = Markers(), Screen()
    chain: Counts = {}
    before: list[tuple[float, float]] = []
    for last in range(1, 30):
        chain[last - 1, 0] = {last: 1}
        screen.take(markers.draw(knowledge(
            chain, home=0, hypothesis=None, candidates=range(last + 1))))
        now = screen.places('candidates')
        assert len(now) == last    # home is none
        assert all(math.dist(*pair) <= STRIDE + 0.02 for pair in zip(before, now))    # rounded
        before = now


def test_where_reset_is_played_the_policy_leads_home() -> None:
    hypothesis = Hypothesis(1, 1, 8, tuple(
        Policy(target, 8, (3, 4, 5), ((0, RESET, 1),)) for target in (3, 4, 5)))
    picture = draw(UNDESCRIBED, hypothesis=hypothesis, counts={(3, 0): {4: 9, 5: 1}})
    home, other, _ = picture.places('known')
    assert picture.places('policy') == [home, other, other, home]


def test_states_with_a_place_are_drawn_there() -> None:
    picture = draw(PLACED)
    assert picture.frames == {'map'}
    assert picture.places('known') == [(10, 20), (10, 20.5)]
    assert picture.places('current') == [(10, 20.5)]
    assert picture.places('policy') == [(10, 20), (10, 20.5)]
    assert picture.places('walls') == [(9, 9), (9, 11)]
    assert picture.named('known')[0].scale.x == 0.3    # 0.6 of the cells, which are 0.5 m wide
    assert picture.labels() == ['dock (3)', '4']
    assert picture.places('labels') == [(10, 20), (10, 20.5)]


def test_a_room_is_named_in_the_middle_of_its_places() -> None:
    house = replace(PLACED, rooms={'hall': (3, 4), 'store': (77,)})
    picture = draw(house)
    assert picture.places('rooms') == [(10, 20.25)]
    assert [marker.text for marker in picture.named('rooms')] == ['hall']


def test_a_state_without_a_place_among_others_is_not_drawn() -> None:
    picture = draw(PLACED, candidates=(77,), last_state=77)
    assert not picture.places('candidates') and not picture.places('current')


def test_positions_without_a_frame_have_that_of_the_states() -> None:
    assert draw(RobotDescription(('a',), positions={3: (1, 2)})).frames == {'mnm_states'}


@pytest.mark.parametrize('attributes', [
    {}, {'hypothesis': None, 'last_state': None, 'home': None},
    {'candidates': (9,), 'counts': {}}, {'lost': (4, 9)}])
@pytest.mark.parametrize('description', [UNDESCRIBED, PLACED])
def test_no_marker_is_empty_and_each_is_in_a_namespace_of_its_kind(
        description: RobotDescription, attributes: dict) -> None:
    assert {name for name, _ in draw(description, **attributes).shown} <= set(NAMESPACES)


def test_the_picture_follows_what_the_robot_side_says() -> None:
    markers, screen = Markers(), Screen()
    for description, frame, places in (
            (UNDESCRIBED, 'mnm_states', [(0, 0), (1, 0)]), (PLACED, 'map', [(10, 20), (10, 20.5)]),
            (UNDESCRIBED, 'mnm_states', [(0, 0), (1, 0)])):
        screen.take(markers.draw(knowledge(), description))
        assert screen.frames == {frame} and screen.places('known') == places


def test_transitions_are_arrows_the_likelier_the_thicker() -> None:
    counts = {(3, 0): {4: 9, 3: 1}, (3, 1): {4: 1, 3: 1}, (4, 1): {3: 3, 4: 96}}
    there, = draw(PLACED, counts=counts).named('transitions')    # 3% of the ways lead back
    counts[4, 1] = {3: 50, 4: 50}
    there, back = sorted(draw(PLACED, counts=counts).named('transitions'),
                         key=lambda arrow: arrow.points[0].y)
    assert there.type == back.type == Marker.ARROW
    begin, end = there.points
    assert 20 < begin.y < end.y < 20.5 and begin.x > 10 > back.points[0].x
    assert there.scale.x > back.scale.x and there.color.a > back.color.a


def test_what_was_lost_is_shown_until_it_is_known_again() -> None:
    picture = draw(PLACED, lost=(4,), hypothesis=None)
    assert picture.places('lost') == [(10, 20.5)] and picture.labels() == ['dock (3)', '4']
    assert not draw(PLACED, lost=(4,)).places('lost')


def test_each_state_is_in_one_namespace_by_the_trust_in_its_policy() -> None:
    trust = {state: PolicyTrust(Trust(said), None, None, 0, '') for state, said in (
        (3, 'doubted'), (4, 'certified'), (5, 'certified'), (6, 'assumed'), (7, 'assumed'))}
    placed = replace(PLACED, positions={state: (float(state), 0.0) for state in range(8)})
    picture = Screen(Markers().draw(
        knowledge(candidates=(5, 7), lost=(5,), trust=trust, home=9), placed))
    assert {name: [x for x, _ in picture.places(name)] for name in (
        'doubted', 'known', 'certified', 'assumed', 'candidates', 'lost')} == {
            'doubted': [3.0], 'known': [4.0], 'certified': [5.0], 'assumed': [6.0],
            'candidates': [7.0], 'lost': []}
    first, second = picture.named('known')[0], picture.named('certified')[0]
    assert first.type != second.type    # not by colour alone
    assert picture.named('doubted')[0].scale.z > first.scale.z


def test_what_is_going_on_is_written_above_the_map() -> None:
    markers, screen = Markers(), Screen()
    screen.take(markers.draw(knowledge(), PLACED, Caption(0, 'building')))
    fine, = screen.named('status')
    screen.take(markers.draw(knowledge(), PLACED, Caption(2, 'fault: stuck; recover')))
    wrong, = screen.named('status')
    assert (fine.text, wrong.text) == ('building', 'fault: stuck; recover')
    assert wrong.pose.position.y > 20.5 and wrong.color != fine.color


def test_only_what_has_changed_is_sent() -> None:
    markers, screen, late = Markers(), Screen(), Screen()
    counts: Counts = {(3, 0): {4: 9}}
    first = markers.draw(knowledge(counts), PLACED)
    assert first.markers[0].action == Marker.DELETEALL
    screen.take(first)
    assert markers.draw(knowledge(counts), PLACED) is None
    counts[3, 0] = {4: 10}
    assert markers.draw(knowledge(counts), PLACED) is None    # as likely as before
    for story, attributes in (
            ([('current', Marker.ADD)], {'last_state': 3}),
            ([('transitions', Marker.ADD)], {'last_state': 3, 'counts': {
                (3, 0): {4: 10}, (4, 0): {3: 1}}}),
            ([('transitions', Marker.DELETE), ('policy', Marker.DELETE),
              ('known', Marker.DELETE), ('known', Marker.DELETE), ('labels', Marker.DELETE)],
             {'last_state': 3, 'hypothesis': None})):
        changes = markers.draw(knowledge(**{'counts': counts, **attributes}), PLACED)
        assert sorted((marker.ns, marker.action) for marker in changes.markers) == sorted(story)
        screen.take(changes)
        late.take(markers.whole())
        assert screen.shown == late.shown


def test_a_late_viewer_gets_the_whole_and_nothing_is_drawn_without_one(
        monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lookout, 'time', SimpleNamespace(
        thread_time=lambda: 0.0))    # nothing takes any time
    heard: list = []
    viewers: list[SimpleNamespace] = []
    node = SimpleNamespace(
        create_publisher=lambda *_: SimpleNamespace(
            publish=lambda message: heard.append(deserialize_message(message, MarkerArray)),
            topic_name='/exploration_markers',
            get_subscription_count=lambda: len(viewers)),
        get_subscriptions_info_by_topic=lambda name: viewers)
    topic, world = PictureTopic(node), SimpleNamespace(
        steps=9, work=0, last_state=4,
        knowledge=lambda trust: knowledge(last_state=world.last_state))

    def settle() -> None:
        end = time.monotonic() + DEADLINE
        while not topic._lookout.collect():
            assert time.monotonic() < end, f'no picture for {DEADLINE:g} s'

    def news(now: float, state: int) -> list[str]:
        """Return for each message sent whether it is whole."""
        heard.clear()
        world.steps, world.last_state = world.steps + 1, state
        topic.news(world, PLACED, Caption(), pickle.dumps({}), None, now)
        settle()
        return ['whole' if message.markers[0].action == Marker.DELETEALL else 'change'
                for message in heard]

    assert news(0.0, 3) == []
    viewers.append(SimpleNamespace(endpoint_gid=[1]))
    assert [*news(1.0, 4), *news(1.1, 3), *news(2.0, 4), *news(3.0, 3)] == [
        'whole', 'whole', 'change']
    viewers[:] = [SimpleNamespace(endpoint_gid=[2])]    # another one, as many as before
    assert [*news(4.0, 4), *news(5.0, 3), *news(6.0, 4)] == ['whole', 'whole', 'change']
    heard.clear()
    topic.greet(7.0)
    settle()
    assert not heard
    viewers.append(SimpleNamespace(endpoint_gid=[3]))
    topic.greet(8.0)
    settle()
    assert len(heard) == 1 and Screen(*heard).places('current') == [(10, 20.5)]
    world.steps, world.last_state = world.steps + 1, 3    # from before a goal, which is at 4
    topic.news(world, PLACED, Caption(), pickle.dumps({}), 4, 9.0)
    settle()
    assert Screen(heard[-1]).places('current') == [(10, 20.5)]


@pytest.mark.parametrize('positions, distance', [
    ([], 1), ([(3, 3)], 1), ([(3, 3), (3, 3)], 1), ([(0, 0), (0, 2), (5, 0)], 2),
    ([(x, y) for x in (0, 5) for y in (0, 0.5, 1)], 0.5),
    ([(x, y) for x in (0, 0.5) for y in (0, 5)], 0.5)])
def test_spacing(positions: list, distance: float) -> None:
    assert spacing(positions) == distance
