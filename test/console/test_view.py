# SPDX-License-Identifier: Apache-2.0

"""The live view, printed by rich into texts of 80, 200 and fewer columns."""

from __future__ import annotations

from dataclasses import replace
import io
import re

from mnm_ros.core.progress.activity import Activity
from mnm_ros.core.progress.events import Event
from mnm_ros.core.progress.trust import PolicyTrust, Trust
from mnm_ros.robot_description import RobotDescription
from mnm_ros.simulation import scenario, world
from mnm_ros.simulation.scenario import describe
from mnm_ros.view.telemetry import RobotTelemetry, Telemetry
from mnm_ros.view.terminal.live_view import choose, Frame, View
from mnm_ros.view.terminal.state_grid import described, Picture, pictures, window
import pytest
from rich.console import Console
from snapshots import BUILDING, FLEET, FULL, TEN

FRAME = Frame('two rooms', 2, 'Ctrl-C ends both nodes')
GRID: Picture = ((('S', (0,)), ('.', (1,)), ('.', (5,))), (('.', (3,)), ('#', ()), ('.', (4,))))
MANY = replace(
    BUILDING, known=tuple(range(500)), status='long\n ' * 100,
    events=(Event(1, 'another long sentence ' * 9, time=TEN),) * 40,
    counts={state: {action: {state + 1: 1, 3: 2} for action in range(9)} for state in range(500)}
    | {state: {} for state in range(500, 600)})


def console(width: int, height: int, **options: object) -> Console:
    return Console(file=io.StringIO(), width=width, height=height, highlight=False, **options)


def shown(heard: Telemetry, picture: Picture = (), width: int = 80, height: int = 24,
          seconds: float = 3723, silent: float = 0.0, **options: object) -> list[str]:
    to = console(width, height, **options)
    to.print(View(heard, FRAME, seconds, picture, silent))
    return to.file.getvalue().splitlines()


@pytest.mark.parametrize('width, height', [(80, 24), (200, 50)])
def test_it_shows_everything(width: int, height: int) -> None:
    text = '\n'.join(shown(FULL, GRID, width, height))
    for part in (
            'mnm_ros: two rooms', '1:02:03', 'checking/evaluation, round 2, hypothesis 2.1',
            'round 2: state 17 added', '2: 0 1', '123,456 (4,321 per second)',
            '1 noticed, 1 relearnt', '4,500 steps', 'setting 1 (of 0..1)',
            'Ctrl-C ends both nodes',
            '10:00:00 home is state 0', '10:00:09 round 2: state 17 added'):
        assert part in text
    assert re.search(r'^outside radius +1: 4\b', text, re.MULTILINE)
    assert '\x1b' not in text and '...' not in text


@pytest.mark.parametrize('width, height, bars', [(80, 24, 2), (200, 50, 3)])
def test_it_shows_how_far_it_is_before_the_first_hypothesis(
        width: int, height: int, bars: int) -> None:
    lines = shown(BUILDING, (), width, height)
    text = '\n'.join(lines)
    for part in ('no hypothesis yet', 'testing the policy to 7', '29% done, about 20 s to the',
                 '812 of about 2,838 (101 per second)',
                 '3.1 of 5.3: policy 7'):
        assert part in text
    assert ('1 of 5.3: transition 7 west' in text) == (bars == 3)
    assert sum('\u2501' in line for line in lines) == bars


@pytest.mark.parametrize('width, height', [(80, 40), (200, 50)])
def test_it_shows_where_several_robots_are(width: int, height: int) -> None:
    lines = shown(FLEET, (), width, height)
    assert any('robots' in line and 'r1: 1,406 steps, in 3, exploring' in line
               for line in lines)
    # State 3 is also that of the exploration, in which nobody is if there are several.
    marked = [line.partition('@')[2].split()[1] for line in lines if re.search('@ [+?]', line)]
    assert marked == ['6', '3'] or marked == ['3', '6'], lines


def test_it_says_how_much_of_each_room_is_known() -> None:
    house = RobotDescription(('go',), rooms={'hall': (0, 1), 'store': (3, 9, 99)})
    heard = replace(FULL, known=(0, 1, 3), description=house)
    assert any(re.search(r'^rooms +hall 2 of 2, store 1 of 3 *$', line) for line in shown(heard))
    assert not any(line.startswith('rooms') for line in shown(FULL))


def test_a_move_is_called_by_where_it_leads_and_an_arrow_says_only_where_else() -> None:
    heard = Telemetry(
        description=RobotDescription(('way 1', 'way 2'), names={1: 'hall', 2: 'lab'}, moves={
            1: ('to lab', 'to 3')}), known=(1,), counts={1: {0: {2: 3, 1: 1}, 1: {2: 1}}})
    lines = shown(heard, width=110, height=40)
    assert any('hall  to lab 75%, to 3 -> lab' in line for line in lines)
    assert any('action -> where it mostly ended' in line for line in lines)


def test_what_it_is_doing_is_not_said_twice() -> None:
    waiting = replace(FULL, activity=Activity(sentence=FULL.status or ''))
    assert not any(line.startswith('doing') for line in shown(waiting))


def test_it_can_be_shown_before_the_first_message() -> None:
    text = '\n'.join(shown(Telemetry()))
    assert 'starting' in text and 'no hypothesis yet' in text


@pytest.mark.parametrize('width, height', [
    (80, 24), (200, 50), (132, 30), (133, 30), (40, 24), (80, 6), (20, 3), (10, 10), (200, 5)])
@pytest.mark.parametrize('picture', [(), GRID, (GRID[0] * 40,) * 60], ids=['list', 'map', 'large'])
def test_it_fits_the_terminal(width: int, height: int, picture: Picture) -> None:
    for heard in (MANY, FULL, BUILDING, Telemetry()):
        lines = shown(heard, picture, width, height, silent=60.0)
        assert len(lines) < height
        assert all(len(line) < width for line in lines)


def test_colour_adds_nothing_but_styles() -> None:
    plain = shown(BUILDING, GRID)
    coloured = shown(BUILDING, GRID, force_terminal=True, color_system='standard')
    # A bar without colours leaves out what is not there yet.
    assert [re.sub(r'\x1b\[[\d;]+m|[\u2501\u2578\u257a]', '', line).split() for line in coloured
            ] == [re.sub('[\u2501\u2578\u257a]', '', line).split() for line in plain]
    assert any('\x1b[' in line for line in coloured)


def test_the_map_tells_all_kinds_of_cells_apart() -> None:
    before = shown(BUILDING, GRID)
    assert any(line.startswith('S + ? ') for line in before)
    assert any(line.startswith('@ # .') for line in before)
    after = shown(replace(FULL, activity=Activity(current=1, lost=(5,))), GRID)
    assert any(line.startswith('S @ x ') for line in after)
    assert any(line.startswith('. # -') for line in after)
    key = next(line for line in after if line.startswith('@ robot'))
    assert key == '@ robot  S home  - outside the radius  x lost  # wall  . not seen'
    trusted = {state: PolicyTrust(Trust(said), None, None, 0, '') for state, said in (
        (1, 'doubted'), (3, 'assumed'), (4, 'certified'))}
    told = shown(replace(FULL, activity=Activity(current=5), trust=trusted), GRID)
    assert any(line.startswith('S ! @ ') for line in told)
    assert any(line.startswith('~ # *') for line in told)
    assert any('! doubted  * certified  ~ assumed' in line for line in told)


def test_doors_keep_their_letters_until_they_are_known() -> None:
    flat = pictures(scenario.load('corridor'), world.load('two_room_flat'))[0]
    door = next(states for row in flat for letter, states in row if letter == 'D')
    assert any(line.startswith('# . S D') for line in shown(Telemetry(), flat))
    known = replace(FULL, known=(*FULL.known, *door))
    assert any(line.startswith('# . S o') for line in shown(known, flat))


def test_where_the_map_does_not_fit_it_shows_the_robots_surroundings() -> None:
    wide = tuple(tuple(('.', (100 * row + column,)) for column in range(100)) for row in range(90))
    part = window(wide, 5, 7, 4050)
    assert [cells[3][1] for cells in part][2] == (4050,) and {len(row) for row in part} == {7}
    assert window(wide, 5, 7, None)[0][0] == ('.', (0,))
    assert window(wide, 5, 7, 8999)[-1][-1] == ('.', (8999,))
    lines = shown(replace(BUILDING, activity=Activity(current=4050)), wide)
    assert sum('@' in line for line in lines) == 2    # the robot and the key


def test_a_world_that_is_no_grid_is_a_list_of_states() -> None:
    text = '\n'.join(shown(BUILDING))
    assert re.search(r'^@ \+ 3  east -> 6, west -> 1 99%', text, re.MULTILINE)
    assert re.search(r'^  S 0  east -> 1 90%, west -> 0', text, re.MULTILINE)
    assert re.search(r'^  \? 5$|^  \? 5 ', text, re.MULTILINE)
    # The order stays, but the robot is among those for which there is room.
    tall = replace(MANY, status='', events=(), activity=Activity(home=0, current=77))
    many = '\n'.join(shown(tall))
    assert re.search(r'^  S 0 .*\n  o 1 (.*\n)+@ o 77 .*\nand 59\d more states', many,
                     re.MULTILINE)


def test_a_silent_explorer_is_told_from_one_that_works() -> None:
    assert 'nothing heard' not in '\n'.join(shown(FULL, silent=3.0))
    assert 'no message for 0:01:00' in '\n'.join(shown(FULL, silent=60.0))


def test_a_robot_that_was_stopped_is_not_taken_for_a_silent_one() -> None:
    late = replace(FULL, robots=(RobotTelemetry('', '', '', unanswered=9.0),))
    assert 'no answer for 9 s' in '\n'.join(shown(late))
    stopped = '\n'.join(shown(replace(late, stopped=frozenset({''}))))
    assert 'no answer' not in stopped and 'mnm_ros go frees the robot' in stopped


def test_a_robots_own_grid_becomes_a_map() -> None:
    for name in ('two_rooms', 'moving_wall'):
        loaded = scenario.load(name)
        own = described(describe(loaded, 0))
        by_file = pictures(loaded, None)[0]
        assert [[(states, letter == '#') for letter, states in row] for row in own] == [
            [(states, letter == '#') for letter, states in row] for row in by_file]


@pytest.mark.parametrize('positions, rows', [
    ({}, 0), ({7: (1.0, 1.0)}, 1), ({1: (0.0, 0.0), 2: (0.0, 0.5), 3: (0.0, 1.5)}, 4),
    ({1: (0.0, 0.0), 2: (1.0, 0.0), 3: (1.7, 0.0)}, 0), ({1: (0.0, 0.0), 2: (0.0, 0.0)}, 1),
    ({1: (0.0, 0.0), 2: (1e-3, 9.0), 3: (9.0, 1.0)}, 0)])
def test_places_that_are_no_grid_make_no_map(
        positions: dict[int, tuple[float, float]], rows: int) -> None:
    picture = described(RobotDescription(('go',), positions=positions))
    assert len(picture) == rows
    found = [state for row in picture for _, states in row for state in states]
    assert sorted(found) == (sorted(positions) if rows else [])


def test_a_terminal_is_redrawn_and_left_as_it_was() -> None:
    class Terminal(io.StringIO):

        def isatty(self) -> bool:
            return True

    out = Terminal()
    display = choose(out, FRAME, {'TERM': 'xterm'})
    for seconds in (0.0, 1.0):
        display.show(BUILDING, seconds, GRID)
    display.close()
    display.close()
    assert '\x1b[1A' in out.getvalue()
    assert out.getvalue().index('\x1b[?25l') < out.getvalue().rindex('\x1b[?25h')
    paused = Terminal()
    choose(paused, FRAME, {'TERM': 'dumb'}).show(replace(FULL, phase='paused'), 0.0, ())
    assert '\x1b' not in paused.getvalue() and ' phase paused\n' in paused.getvalue()


def test_lines_tell_what_is_beyond_the_radius_once_it_lasts() -> None:
    out = io.StringIO()
    lines = choose(out, FRAME, {})
    passing = replace(FULL, counts={0: {0: {1: 1, 4: 1, 5: 1}}})
    for heard in (FULL, passing, FULL, FULL, FULL, replace(FULL, counts={})):
        lines.show(heard, 0.0, ())
    assert [line[9:] for line in out.getvalue().splitlines() if 'outside' in line] == [
        'seen outside the radius: 1: 4']
