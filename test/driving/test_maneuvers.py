# SPDX-License-Identifier: Apache-2.0

"""Routes over cells, and what follows a leg that fails; the test decides how each leg ends."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from math import dist
from random import Random

from mnm_ros.driving.drive import Leg, Outcome
from mnm_ros.driving.grid import Grid, OUTSIDE, QUARTER, shortest, Ways
from mnm_ros.driving.maneuvers import Maneuver, Move, MOVES, successors, WayHome
from mnm_ros.driving.occupancy import Map
from mnm_ros.driving.pose import Pose
import pytest

GRID = Grid(0.0, 0.0, 1.0, 4, 4)
REACHED, TIMEOUT, BUMPED, BLOCKED, OBSTRUCTED, DETOUR, BROKEN_OFF, _ = Outcome
Judge = Callable[[int, int], Outcome]


def play(maneuver: Maneuver, cell: int | None, judge: Judge,
         grid: Grid = GRID) -> tuple[int | None, list[Leg]]:
    """Play a maneuver; ``judge`` decides how a leg from one cell to another ends."""
    legs: list[Leg] = []
    pose = Pose(*grid.centre(cell), 0.0) if cell is not None else Pose(-0.6, 1.4, 0.0)
    ended = None
    while True:
        leg = maneuver.next(ended, cell, pose)
        if leg is None:
            return cell, legs
        legs.append(leg)
        assert len(legs) < 100
        ended = REACHED
        for there in () if leg.retreat else cells_of(leg, grid):
            ended = judge(cell, there)
            if ended is not REACHED:
                break
            cell, pose = there, Pose(*grid.centre(there), 0.0)
        if ended is REACHED and not leg.retreat:
            pose = Pose(leg.x, leg.y, 0.0)


def cells_of(leg: Leg, grid: Grid = GRID) -> list[int]:
    """Return the cells that a leg leads to, one after the other."""
    points = [*leg.via, (leg.x, leg.y)]
    return [*dict.fromkeys(
        grid.cell_at(x + (to_x - x) * part / 20, y + (to_y - y) * part / 20)
        for (x, y), (to_x, to_y) in zip(points, points[1:] or points)
        for part in range(21 if len(points) > 1 else 1))]


def fine(cell: int, there: int) -> Outcome:
    return REACHED


def closed(*edges: tuple[int | None, int], how: Outcome = BUMPED) -> Judge:
    both = {*edges, *((b, a) for a, b in edges)}
    return lambda cell, there: how if (cell, there) in both else REACHED


def passed(legs: list[Leg]) -> list[int]:
    """Return the cells of all legs."""
    return [*dict.fromkeys(cell for leg in legs for cell in cells_of(leg))]


@pytest.mark.parametrize('seed', range(3))
def test_shortest_ways_against_relaxation(seed: int) -> None:
    random = Random(seed)
    for _ in range(50):
        edges = {node: random.sample(range(12), random.randint(0, 3)) for node in range(12)}
        distance = {0: 0}
        for _ in range(12):
            for node, nexts in edges.items():
                for there in nexts:
                    if node in distance:
                        distance[there] = min(distance.get(there, 99), distance[node] + 1)
        for goal in range(12):
            route = shortest(0, goal, edges.__getitem__)
            assert (None if route is None else len(route)) == distance.get(goal), (seed, goal)
            for here, there in zip([0, *(route or [])], route or []):
                assert there in edges[here]


@pytest.mark.parametrize(('action', 'there'), list(zip(MOVES['compass'], (6, 9, 4, 1))))
def test_compass(action: str, there: int) -> None:
    move = Move(Ways(GRID), action, 5, 0, 9.0)
    assert play(move, 5, fine) == (there, [Leg(*GRID.centre(there), None, 9.0, direct=True)])
    assert move.outcome is REACHED


@pytest.mark.parametrize(('action', 'there', 'facing'), [
    ('forward', 9, 1), ('back', 1, 1), ('left', 5, 2), ('right', 5, 0)])
def test_relative(action: str, there: int, facing: int) -> None:
    grid = Grid(0.0, 0.0, 1.0, 4, 4, with_heading=True)
    _, (leg,) = play(Move(Ways(grid), action, 5, 1, 9.0), 5, fine)
    assert leg == Leg(*grid.centre(there), pytest.approx(facing * QUARTER), 9.0,
                      action == 'back', direct=True)


def test_declared_are_the_next_cell_and_the_own() -> None:
    ways = Ways(GRID)
    ways.free = frozenset(range(16)) - {6}
    found = successors(ways, MOVES['compass'])
    assert [*found] == [OUTSIDE, *range(16)]
    assert found[5] == ((5,), (9, 5), (4, 5), (1, 5))    # nothing is driven into cell 6
    assert found[0] == ((1, 0), (4, 0), (0,), (0,))
    assert found[OUTSIDE] == ((OUTSIDE,),) * 4


@pytest.mark.parametrize(('moves', 'with_heading'), [
    ('compass', False), ('compass', True), ('relative', True)])
def test_a_move_ends_where_it_is_declared_to(moves: str, with_heading: bool) -> None:
    """However its leg ends, if the robot is then where the leg led or has not left its cell."""
    ways = Ways(Grid(0.0, 0.0, 1.0, 3, 3, with_heading))
    ways.free = frozenset(range(9)) - {4}
    declared = successors(ways, MOVES[moves])
    driven = 0
    for cell, heading, (number, action), outcome, back in product(
            (None, *range(9)), range(4), enumerate(MOVES[moves]),
            (REACHED, TIMEOUT, BUMPED, BLOCKED, OBSTRUCTED), (REACHED, BLOCKED)):
        pose = Pose(*(ways.grid.centre(cell) if cell is not None else (-0.6, 1.4)),
                    heading * QUARTER)
        move, ended = Move(ways, action, cell, heading, 9.0), None
        while leg := move.next(ended, ways.grid.cell_at(pose.x, pose.y), pose):
            ended = back if leg.retreat else outcome
            if ended is REACHED:
                pose = Pose(leg.x, leg.y, pose.yaw if leg.yaw is None else leg.yaw)
            elif not leg.retreat and leg.yaw is not None:
                pose = pose._replace(yaw=leg.yaw)    # turned before it was given up
            driven += 1
        state = ways.grid.state_at(pose)
        before = ways.grid.state(cell, heading)
        assert state in declared[before][number], (cell, heading, action, outcome)
    assert driven > 100


@pytest.mark.parametrize(('outcome', 'retreats'), [
    (TIMEOUT, 0), (BUMPED, 1), (BLOCKED, 1), (OBSTRUCTED, 1)])
def test_a_move_that_fails(outcome: Outcome, retreats: int) -> None:
    move = Move(Ways(GRID), 'east', 5, 0, 9.0)
    cell, legs = play(move, 5, closed((5, 6), how=outcome))
    assert cell == 5 and move.outcome is outcome
    assert legs[1:] == [Leg(*GRID.centre(5), None, 9.0, None, retreat=True)] * retreats


@pytest.mark.parametrize(('action', 'yaw', 'x', 'back'), [
    ('east', 0.0, 1.2, 1.1), ('east', 3.1416, 1.8, 1.5), ('east', 0.0, 1.45, 1.5),
    ('north', 0.0, 1.2, 1.1), ('back', 3.1416, 1.2, 1.1), ('east', 0.0, 0.95, 1.5)])
def test_before_the_centre_it_backs_away_from_what_it_touches(
        action: str, yaw: float, x: float, back: float) -> None:
    """
    The way back to the centre would lead on against it, for blocked_after.

    Only if the robot is in the cell, and the centre is clearly ahead, or behind one that reverses.
    """
    move = Move(Ways(GRID), action, 5, 2, 9.0, rolling=True)
    assert move.next(None, 5, Pose(x, 1.5, yaw))
    leg = move.next(BUMPED, 5, Pose(x, 1.5, yaw))
    assert leg[:2] == pytest.approx((back, 1.5), abs=1e-4) and leg.retreat
    assert leg.backwards is ((action != 'back') if back == 1.1 else None)
    assert move.next(REACHED, 5, Pose(back, 1.5, yaw)) is None and move.outcome is BUMPED
    planned = Move(Ways(GRID), action, 5, 2, 9.0, rolling=True, steers=False)
    assert planned.next(None, 5, Pose(x, 1.5, yaw))
    assert planned.next(BLOCKED, 5, Pose(x, 1.5, yaw))[:2] == GRID.centre(5)


def test_what_is_touched_on_the_way_to_the_centre_ends_a_move() -> None:
    ways, pose = Ways(GRID), Pose(1.8, 1.5, 0.0)
    ways.read(Map(0.1, 40, 40, Pose(0.0, 0.0, 0.0), [0] * 1600), 0.0)
    ways.is_off = lambda place, cell, there: True    # as by test_by_way_of_the_centre
    move = Move(ways, 'north', 5, 0, 9.0)
    assert move.next(None, 5, pose)[:2] == GRID.centre(5)
    leg = move.next(BUMPED, 5, pose)    # backwards
    assert leg[:2] == pytest.approx((1.9, 1.5)) and leg.retreat and leg.backwards is False
    assert move.next(REACHED, 5, pose) is None and move.outcome is BUMPED


def test_on_the_way_home_it_backs_away_from_what_it_touches_before_a_centre() -> None:
    way = WayHome(Ways(GRID), Pose(3.5, 1.5, 0.0), 3, 9.0, in_one_go=False)
    way._ways.succeeded(5, 6)
    assert way.next(None, 5, Pose(1.5, 1.5, 0.0))
    leg = way.next(BUMPED, 6, Pose(2.2, 1.5, 0.0))
    assert leg[:2] == pytest.approx((2.1, 1.5)) and leg.retreat


def test_a_move_is_decided_well_within_the_next_cell() -> None:
    """By three poses in a row; not one that is given up, or turns, or has yet to turn."""
    ways = Ways(Grid(0.0, 0.0, 1.0, 4, 4, True))
    deep, shallow = Pose(2.25, 1.5, 0.0), Pose(2.15, 1.5, 0.0)
    move = Move(ways, 'forward', 5, 0, 9.0)
    move.next(None, 5, Pose(1.5, 1.5, 0.0))
    assert [move.is_decided(6, 0, pose, 0.2) for pose in (
        deep, deep, shallow, deep, deep, deep)] == [False] * 5 + [True]
    for cell, heading in ((5, 0), (6, 1)):    # by the hysteresis not yet there
        move = Move(ways, 'forward', 5, 0, 9.0)
        assert not any(move.is_decided(cell, heading, deep, 0.2) for _ in range(9))
    turn = Move(ways, 'left', 6, 0, 9.0)
    assert not any(turn.is_decided(6, 1, deep, 0.2) for _ in range(9))
    leaping = Move(ways, 'forward', 5, 0, 9.0)    # by 0.2 m; then it has to drive 1 m
    way = [1.9, *(there / 100 for there in (*range(210, 280, 10), *range(280, 220, -10), 225))]
    decided = [leaping.is_decided(6, 0, Pose(x, 1.5, 0.0), 0.2) for x in way]
    assert not any(decided[:12]) and decided[-1]
    failed = Move(ways, 'forward', 5, 0, 9.0)
    assert failed.next(None, 5, deep) and failed.next(BUMPED, 6, deep).retreat
    assert not any(failed.is_decided(6, 0, deep, 0.2) for _ in range(9))


def test_a_way_home_is_decided_well_within_home() -> None:
    """While it is on its last leg; with headings it has to turn, and is at rest then."""
    for with_heading in (False, True):
        ways = Ways(Grid(0.0, 0.0, 1.0, 4, 4, with_heading))
        way = WayHome(ways, Pose(3.5, 1.5, 0.0), 3, 9.0, in_one_go=False)
        assert way.next(None, 5, Pose(1.5, 1.5, 0.0))
        for tenth in range(15, 31):
            assert not way.is_decided(6, 0, Pose(tenth / 10, 1.5, 0.0), 0.2)
        decided = [way.is_decided(7, 0, Pose(x, 1.5, 0.0), 0.2) for x in (3.1, 3.2, 3.25, 3.3)]
        assert decided == [False] * 3 + [not with_heading], with_heading


def test_the_way_on_which_it_has_just_come_is_driven_back_without_a_turn() -> None:
    """Not another way, nor the same one after a move that failed, nor if the heading matters."""
    for with_heading in (False, True):
        ways = Ways(Grid(0.0, 0.0, 1.0, 4, 4, with_heading))
        for action, cell, backwards in (
                ('west', 6, None), ('north', 6, False), ('west', 5, False)):
            for ended in (REACHED, BUMPED):
                before = Move(ways, 'east', 5, 0, 9.0)
                before.next(None, 5, Pose(1.5, 1.5, 0.0))
                before.next(ended, cell, Pose(2.4, 1.5, 0.0))
                move = Move(ways, action, cell, 0, 9.0, rolling=True, before=before)
                leg = move.next(None, cell, Pose(2.4, 1.5, 0.0))
                assert leg.backwards is (
                    False if with_heading or ended is BUMPED else backwards), (action, ended)


def test_one_that_rolls_on_curves() -> None:
    rolling = Pose(1.3, 1.5, 0.0)
    leg = Move(Ways(GRID), 'north', 5, 0, 9.0, rolling=True).next(None, 5, rolling)
    assert leg[:2] == GRID.centre(9) and leg.via[0] == pytest.approx((1.3, 1.5))
    assert leg.via[-1] == pytest.approx((1.5, 1.7)) and leg.ahead == pytest.approx(0.2)
    for action, rolls in (('north', False), ('east', True), ('west', True)):
        leg = Move(Ways(GRID), action, 5, 0, 9.0, rolling=rolls).next(None, 5, rolling)
        assert not leg.via, action


def test_of_the_shortest_ways_one_with_the_fewest_turns() -> None:
    open_grid = Ways(Grid(0.0, 0.0, 1.0, 6, 6))
    for cell, goal in ((0, 35), (13, 34), (30, 11)):
        route = [cell, *open_grid.route(cell, goal, ())]
        steps = [there - here for here, there in zip(route, route[1:])]
        assert sum(one != other for one, other in zip(steps, steps[1:])) == 1, route


def test_by_way_of_the_centre_if_something_is_in_the_way() -> None:
    """Of a robot that is still rolling, or stands elsewhere in its cell; on the way home, too."""
    ways = Ways(Grid(0.0, 0.0, 1.0, 4, 4))
    pixels = [0] * 1600
    pixels[18 * 40 + 18] = pixels[18 * 40 + 19] = 100    # in the corner of cell 5
    map_ = Map(0.1, 40, 40, Pose(0.0, 0.0, 0.0), pixels)
    ways.read(map_, 0.3)
    assert ways.neighbour(5, 1) == 9
    for begin, direct in ((Pose(1.5, 1.5, 0.0), True), (Pose(1.2, 1.4, 0.0), True),
                          (Pose(1.7, 1.4, 0.0), False)):
        move = Move(ways, 'north', 5, 0, 9.0)
        leg = move.next(None, 5, begin)
        assert (leg[:2] == GRID.centre(9)) is direct
        if not direct:
            assert leg[:2] == GRID.centre(5)
            assert not any(move.is_decided(9, 1, Pose(1.5, 2.5, 0.0), 0.2) for _ in range(9))
            assert move.next(REACHED, 5, Pose(1.53, 1.5, 0.0))[:2] == GRID.centre(9)
        way = WayHome(ways, Pose(1.5, 3.5, 0.0), 3, 9.0, in_one_go=False)
        leg = way.next(None, 5, begin)
        points = [begin[:2], *leg.via, leg[:2]]
        assert map_.is_free(points[1:-1] or points[1:], points[2:] or points[1:], 0.3).all()
        nearest = min(dist(GRID.centre(5), point) for point in points)
        assert (9 in cells_of(leg)) is direct or nearest < 0.1


@pytest.mark.parametrize('before', [None, BLOCKED])
def test_a_move_that_is_broken_off(before: Outcome | None) -> None:
    """On the way there, or back: it is not known what was in the way, and nothing is learnt."""
    ways = Ways(GRID)
    move = Move(ways, 'east', 5, 0, 9.0)
    pose = Pose(*GRID.centre(5), 0.0)
    assert move.next(None, 5, pose)
    assert before is None or move.next(before, 5, pose)
    assert move.next(BROKEN_OFF, 5, pose) is None
    assert move.outcome is BROKEN_OFF and move.problem == 'broken off'
    assert bool(ways.route(5, 6, set()) == [6]) is (before is None)


def test_long_ways_round() -> None:
    """One counts for nothing; three in a row show that the direct way is blocked."""
    ways = Ways(GRID)
    for ends, expected in ((DETOUR, BROKEN_OFF), (DETOUR, BROKEN_OFF), (REACHED, REACHED),
                           (DETOUR, BROKEN_OFF), (DETOUR, BROKEN_OFF), (DETOUR, BLOCKED),
                           (DETOUR, BLOCKED), (REACHED, REACHED), (DETOUR, BROKEN_OFF)):
        move = Move(ways, 'east', 5, 0, 9.0)
        _, legs = play(move, 5, lambda *_, ends=ends: ends)
        assert move.outcome is expected and bool(move.problem) is (expected is BROKEN_OFF)
        assert any(leg.retreat for leg in legs) is (expected is BLOCKED)


def test_nothing_is_driven_off_the_grid_or_into_what_is_occupied() -> None:
    ways = Ways(GRID)
    ways.free = frozenset({0, 1})
    for action, cell in (('west', 0), ('north', 1), ('east', 1), ('east', None)):
        move = Move(ways, action, cell, 0, 9.0)
        assert play(move, cell, fine) == (cell, []) and move.outcome is BLOCKED


def home(ways: Ways, retries: int = 3, in_one_go: bool = False) -> WayHome:
    return WayHome(ways, Pose(0.4, 0.6, 1.0), retries, 9.0, in_one_go)


def test_home_round_what_is_occupied() -> None:
    ways = Ways(GRID)
    ways.free = frozenset({0, 1, 2, 6, 10, 14, 13, 12, 4, 8})
    cell, legs = play(home(ways), 10, fine)
    assert cell == 0 and passed(legs) == [6, 2, 1, 0]
    assert legs[-1][:3] == (0.4, 0.6, 1.0)


def test_home_round_a_door_that_is_closed_and_remembered() -> None:
    ways = Ways(GRID)
    ways.free = frozenset({0, 1, 2, 4, 5, 6})
    door = closed((1, 0))
    cell, legs = play(home(ways), 2, door)
    assert cell == 0 and sum(leg.retreat for leg in legs) == 1
    cell, legs = play(home(ways), 2, door)
    assert cell == 0 and not any(leg.retreat for leg in legs)
    ways.succeeded(0, 1)
    cell, legs = play(home(ways), 2, fine)
    assert passed(legs) == [1, 0]


def test_home_without_a_map_by_moves_that_have_succeeded() -> None:
    ways = Ways(GRID)
    for cell, action in ((0, 'north'), (4, 'north'), (8, 'east'), (9, 'east'), (10, 'south')):
        play(Move(ways, action, cell, 0, 9.0), cell, fine)
    _, legs = play(home(ways), 6, fine)
    assert passed(legs) == [10, 9, 8, 4, 0]
    cell, legs = play(home(ways), 6, closed((9, 8)))    # and if they fail now, by any others
    assert cell == 0 and sum(leg.retreat for leg in legs) == 1


def test_home_from_outside() -> None:
    cell, legs = play(home(Ways(GRID)), None, closed((None, 4)))
    assert cell == 0 and GRID.cell_at(legs[0].x, legs[0].y) == 4 and legs[1].retreat


@pytest.mark.parametrize(('retries', 'judge', 'problem'), [
    (1, lambda cell, there: BUMPED, 'bumped from cell 1 to cell '),
    (9, lambda cell, there: BLOCKED, 'no free way leads home from cell 1'),
    (0, lambda cell, there: TIMEOUT, 'timeout from cell 1 to cell 0')])
def test_home_is_not_reached(retries: int, judge: Judge, problem: str) -> None:
    maneuver = home(Ways(GRID), retries)
    cell, legs = play(maneuver, 1, judge)
    assert cell == 1 and maneuver.problem.startswith(problem) and maneuver.outcome is not REACHED
    assert sum(not leg.retreat for leg in legs) <= retries + 1


def test_home_in_one_go() -> None:
    ended = iter([BLOCKED, TIMEOUT, REACHED])
    cell, legs = play(home(Ways(GRID), 2, in_one_go=True), 15, lambda *_: next(ended))
    assert cell == 0 and legs == [Leg(0.4, 0.6, 1.0, 9.0)] * 3
    maneuver = home(Ways(GRID), 1, in_one_go=True)
    assert maneuver.next(None, 15, Pose(3.5, 3.5, 0.0)) and maneuver.next(
        REACHED, 14, Pose(2.5, 3.5, 0.0))    # says so, but is elsewhere
    assert maneuver.next(REACHED, 14, Pose(2.5, 3.5, 0.0)) is None
    assert maneuver.problem == 'home was missed'


@pytest.mark.parametrize(('with_heading', 'problem'), [(True, 'home was missed'), (False, '')])
def test_home_in_another_heading(with_heading: bool, problem: str) -> None:
    """In one leg the robot may end with any heading, if states have no heading."""
    grid = Grid(0.0, 0.0, 1.0, 4, 4, with_heading)
    maneuver = WayHome(Ways(grid), Pose(0.5, 0.5, QUARTER), 0, 9.0, in_one_go=True)
    assert maneuver.next(None, 1, Pose(1.5, 0.5, 0.0))
    assert maneuver.next(REACHED, 0, Pose(0.5, 0.5, 0.0)) is None
    assert maneuver.problem == problem


@pytest.mark.parametrize('ends', [[TIMEOUT], [BUMPED, REACHED], [REACHED], Outcome])
@pytest.mark.parametrize('in_one_go', [False, True])
def test_a_way_home_takes_no_longer_than_its_limit(
        ends: list[Outcome], in_one_go: bool) -> None:
    """However many legs it has, even if poses lead it in circles, and with any retries."""
    ways, random, elapsed = Ways(GRID), Random(1), 0.0
    maneuver = WayHome(ways, Pose(0.4, 0.6, 1.0), 10**6, 9.0, in_one_go, limit=60.0)
    cell, ended = 15, None
    while True:
        pose = Pose(*GRID.centre(cell), 0.0)
        leg = maneuver.next(ended, cell, pose, elapsed)
        if leg is None:
            break
        assert 0 < leg.timeout <= 9.0 * max(1, len(cells_of(leg)))
        ended = random.choice([*ends])
        elapsed += leg.timeout if ended is TIMEOUT else random.uniform(0, leg.timeout)
        cell = random.choice((5, 10, 15))
    assert elapsed <= 60.0 + 1e-6
    assert maneuver.problem in ('timeout on the way home', 'no free way leads home from cell 5',
                                *(f'no free way leads home from cell {at}' for at in (10, 15)))


@pytest.mark.parametrize('in_one_go', [False, True])
@pytest.mark.parametrize(('x', 'y', 'outside'), [
    (-2.5, 1.0, 2.5), (100.0, 1.0, 96.0), (1.0, 6.5, 2.5), (1e8, -1e8, 1e8)])
def test_nothing_is_driven_from_far_outside(
        x: float, y: float, outside: float, in_one_go: bool) -> None:
    maneuver = WayHome(Ways(GRID), Pose(0.4, 0.6, 1.0), 3, 9.0, in_one_go, farthest=2.0)
    assert maneuver.next(None, None, Pose(x, y, 0.0)) is None
    assert maneuver.outcome is BLOCKED and maneuver.problem == (
        f'the robot is {outside:.3g} m outside of the grid, expected at most 2 m')
    near = WayHome(Ways(GRID), Pose(0.4, 0.6, 1.0), 3, 9.0, in_one_go, farthest=2.0)
    assert near.next(None, None, Pose(5.9, 5.9, 0.0))
    assert near.next(REACHED, None, Pose(x, y, 0.0)) is None    # nor from where a leg has led
