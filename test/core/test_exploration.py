# SPDX-License-Identifier: Apache-2.0

"""The exploration as an operator sees it."""

from __future__ import annotations

from made_once import CopiedSimulator, made_once
from mnm_ros.core import (
    Event,
    Exploration,
    Interruption,
    Phase,
    Problem,
    Relocation,
    RESET,
    settings,
    Update,
)
from mnm_ros.core.inputs import Input
from mnm_ros.core.mnm.options import Value
from mnm_ros.core.progress.said import HypothesisFound, StatesAdded
from mnm_ros.simulation.ground_truth import judge
from mnm_ros.simulation.scenario import load
from mnm_ros.simulation.simulator import Simulator
from mnm_ros.view.sentences import sentence
import pytest
from small_worlds import row, scenario_of
from tiers import strength, thorough

TWO_ROOMS, WHEEL = load('two_rooms'), load('broken_wheel')
SETTINGS = settings(Problem(len(TWO_ROOMS.actions), strength(2.0, 4.0), 1.0, 0.1))

BEGUN = strength(150, 1000)    # steps after which something happens
BUILDING = strength(250, 800)    # steps, after which the first hypothesis is still to come


def started() -> tuple[Exploration, Simulator]:
    exploration = Exploration(SETTINGS)
    exploration.robot_answers()
    return exploration, CopiedSimulator(TWO_ROOMS)


def drive(exploration: Exploration, simulator: Simulator, steps: int) -> list[int]:
    """Return the states visited."""
    states = []
    for _ in range(steps):
        action = exploration.next_action()
        states.append(simulator.step(action))
        exploration.observe(action, states[-1])
    return states


@made_once
def driven(steps: int) -> tuple[Exploration, Simulator]:
    exploration, simulator = started()
    drive(exploration, simulator, steps)
    return exploration, simulator


def test_it_waits_for_the_robot_and_begins_with_a_reset() -> None:
    exploration = Exploration(SETTINGS)
    assert exploration.phase is Phase.WAITING_FOR_ROBOT and exploration.status
    assert exploration.next_action() == RESET
    exploration.observe(RESET, 5)
    assert exploration.phase is Phase.BUILDING_DISCOVERY
    assert exploration.hypothesis is None and not exploration.mnm.under_revision


def test_its_counts_are_what_the_simulator_recorded() -> None:
    exploration, simulator = driven(strength(BUILDING, 5000))
    record = {pair: dict(nexts) for pair, nexts in simulator.counts.items()}
    # Where the robot was before its first RESET nobody told.
    record[TWO_ROOMS.start, RESET][TWO_ROOMS.start] -= 1
    observed = {pair: dict(nexts) for pair, nexts in exploration.counts.items()}
    assert observed == {p: n for p, n in record.items() if sum(n.values())}


def test_states_met_and_what_follows_them_are_told_after_a_resumption_too() -> None:
    exploration, simulator = driven(strength(BUILDING, 5000))
    met = {state for state, _ in simulator.counts}
    assert exploration.states == len(met) > 3
    resumed = Exploration(SETTINGS, 0, exploration.to_state())
    resumed.relocate(4711)    # nothing is known of that place until something is done there
    for each in (exploration, resumed):
        assert each.states == each.diagnostics()['states'] == len(met)
        known = each.knowledge(())
        for state in met:
            led = {(action, after): count for action, after, count in known.successors(state)}
            assert led == {
                (action, after): count for action in range(SETTINGS.problem.actions)
                for after, count in each.counts.get((state, action), {}).items()}


def test_paused_and_resumed_it_begins_with_a_reset_and_loses_nothing() -> None:
    exploration, simulator = driven(BEGUN)
    counts = exploration.counts
    exploration.pause('service explore called')
    assert exploration.phase is Phase.PAUSED
    assert sentence(exploration.status) == 'paused: service explore called'
    simulator.state = 3
    exploration.resume()
    assert exploration.phase is Phase.WAITING_FOR_ROBOT and exploration.next_action() == RESET
    exploration.robot_answers()
    drive(exploration, simulator, 1)
    assert exploration.counts == counts
    assert exploration.phase.value.startswith('building/')


def test_a_robot_that_was_moved_is_not_a_transition() -> None:
    exploration, _ = driven(BEGUN)
    counts = exploration.counts
    exploration.relocate(3)
    assert exploration.counts == counts and exploration.last_state == 3
    assert exploration.next_action() == RESET


def test_a_robot_that_is_lost_and_found() -> None:
    exploration, simulator = started()
    drive(exploration, simulator, 10)
    action = exploration.next_action()
    exploration.robot_lost('no answer')
    assert exploration.phase is Phase.WAITING_FOR_ROBOT
    assert sentence(exploration.status) == 'waiting for the robot: no answer'
    exploration.robot_answers()
    assert exploration.next_action() == action and exploration.phase.value.startswith('building/')


@pytest.mark.parametrize(('stop', 'arguments', 'phase'), [
    ('fail', {}, 'fault'), ('fail', {'recoverable': False}, 'fault'), ('finish', {}, 'done')])
def test_it_ends_with_a_reason_and_only_recover_brings_it_back_from_a_fault_of_the_robot(
        stop: str, arguments: dict[str, bool], phase: str) -> None:
    exploration, simulator = started()
    drive(exploration, simulator, 10)
    getattr(exploration, stop)('motor on fire', **arguments)
    status = f'{phase}: motor on fire'
    leads_back = stop == 'fail' and not arguments
    for call in (exploration.robot_answers, exploration.resume,
                 *(() if leads_back else (exploration.recover,)),
                 lambda: exploration.pause('too late'), lambda: exploration.fail('again'),
                 lambda: exploration.finish('again'), lambda: exploration.robot_lost('gone')):
        call()
        assert (exploration.phase.value, sentence(exploration.status)) == (phase, status)
    if leads_back:
        counts = exploration.counts
        exploration.recover()
        assert exploration.phase is Phase.WAITING_FOR_ROBOT and exploration.counts == counts
        assert exploration.next_action() == RESET


def test_a_reset_that_misses_home_is_counted_and_tried_again() -> None:
    (exploration, simulator), (twin, other) = driven(BEGUN), driven(BEGUN)
    exploration.relocate(3)
    twin.relocate(3)
    for misses in (1, 2):
        assert exploration.next_action() == RESET
        exploration.observe(RESET, 7)
        assert exploration.homing.misses_in_a_row == exploration.homing.misses == misses
        assert exploration.diagnostics()['reset_misses'] == misses
    assert exploration.counts[3, RESET][7] == exploration.counts[7, RESET][7] == 1
    states = drive(exploration, simulator, strength(100, 500))
    assert states == drive(twin, other, len(states))    # the algorithm has not noticed
    assert exploration.homing.misses_in_a_row == 0 and exploration.homing.misses == 2


def test_it_finds_the_rooms_notices_the_door_and_finds_the_room_again() -> None:
    closing = scenario_of(row(3), row(3, closed=(1, 0)), row(3))
    scenario, every = strength((closing, 20), (TWO_ROOMS, 500))
    simulator = Simulator(scenario, 1)
    exploration = Exploration(settings(
        Problem(len(scenario.actions), 4.0, 1.0, strength(0.5, 0.1))), 1)
    phases = set()
    for setting, noticed in ((0, 0), (1, 1), (2, 2)):
        while simulator.setting < setting:
            simulator.change()
        for _ in range(150_000):
            drive(exploration, simulator, 1)
            phases.add(exploration.phase.value)
            verdict = judge(simulator.cmp, exploration.hypothesis, 4.0, 1.0) if (
                exploration.steps % every == 0) else None
            if verdict and verdict.ok and exploration.changes_relearnt == noticed:
                break
        else:
            raise AssertionError(f'setting {setting} not learnt: {exploration.status}')
        assert exploration.changes_noticed == noticed
    assert phases == {'building/discovery', 'building/evaluation', 'checking/rediscovery',
                      'checking/evaluation'}
    figures = exploration.diagnostics()
    assert figures['changes_noticed'] == 2 and isinstance(
        figures['last_change'].said, (HypothesisFound, StatesAdded))


def until_it_is_under_way(exploration: Exploration, simulator: Simulator) -> None:
    """Stop before an action other than RESET."""
    while exploration.next_action() == RESET:
        drive(exploration, simulator, 1)


def test_whatever_interrupts_it_the_next_action_is_a_reset() -> None:
    exploration, simulator = driven(BEGUN)
    until_it_is_under_way(exploration, simulator)
    exploration.relocate(3)
    assert exploration.next_action() == RESET
    until_it_is_under_way(exploration, simulator)
    exploration.pause('lunch')
    exploration.resume()
    assert exploration.next_action() == RESET


def test_the_figures_before_while_building_and_in_the_checks() -> None:
    exploration, _ = started()
    nothing = {'round': 0, 'phase': 'building/discovery', 'quantum': 0, 'streams': 0, 'known': 0,
               'candidates': 0, 'states': 0, 'steps': 0, 'reset_misses': 0, 'check_steps': 0,
               'check_window': 0, 'failures': '', 'failure_threshold': 0.0, 'last_change': '',
               'changes_noticed': 0, 'changes_relearnt': 0, 'quarantined': ''}
    assert exploration.diagnostics() == nothing
    exploration, simulator = driven(BUILDING)
    building = exploration.diagnostics()
    assert building['round'] == building['streams'] == 1 and building['steps'] == BUILDING
    assert building['states'] == exploration.states > 2 and building['candidates'] == len(
        exploration.candidates) > 0
    assert building['quantum'] > 1 and building['known'] == 0 == building['check_steps']
    while exploration.hypothesis is None:
        drive(exploration, simulator, 1)
    checking = exploration.diagnostics()
    assert checking['phase'] == exploration.phase.value and checking['quantum'] == 0
    assert checking['known'] == len(exploration.hypothesis.policies) and checking['streams'] == 0
    assert checking['check_steps'] > 0 and checking['check_window'] == 0
    assert checking['failure_threshold'] > 0 and 'nats against' in str(checking['failures'])
    assert sentence(checking['last_change']) == f'step {exploration.events[-1].step}: ' + (
        sentence(exploration.events[-1].said))
    assert exploration.status == exploration.events[-1].said
    assert exploration.changes_noticed == exploration.mnm.log.notices == 0


def test_inputs_are_told_with_the_step_that_was_broken_off() -> None:
    """From what is told, another exploration is led to the same place."""
    exploration, simulator = started()
    told: list[Input] = []
    exploration.listeners.append(lambda taken: told.append(taken.input))
    drive(exploration, simulator, 40)
    while exploration.next_action() == RESET:
        drive(exploration, simulator, 1)
    open_one = exploration.next_action()
    taken = exploration.lose_place('r1')
    assert taken == Update(Interruption(open_one, 'r1')) and told[-1] == taken.input
    assert exploration.last_state is None
    assert exploration.next_action() == RESET    # asked for, and open now
    exploration.relocate(5)
    assert told[-1] == Relocation(5, RESET) and exploration.last_state == 5
    exploration.lose_place()
    assert told[-1] == Interruption()
    drive(exploration, simulator, 200)
    again = Exploration(SETTINGS, 0)
    for given in told:
        again.take(given)
    assert again.counts == exploration.counts
    assert again.next_action() == exploration.next_action()


def test_all_listeners_hear_in_their_order_what_is_returned() -> None:
    exploration, simulator = driven(BUILDING)
    heard: list[tuple[str, Update]] = []
    for name in ('first', 'second'):
        exploration.listeners.append(
            lambda taken, name=name: heard.append((name, taken)))
    decided = list(exploration.events)
    while exploration.hypothesis is None:
        action = exploration.next_action()
        taken = exploration.observe(action, simulator.step(action))
        decided += taken.events
        assert heard == [('first', taken), ('second', taken)]
        assert taken.revision is exploration.hypothesis
        heard.clear()
    assert taken.events and decided == list(exploration.events)
    action = exploration.next_action()
    assert exploration.observe(action, simulator.step(action)).revision is None


def test_events_are_told_as_they_happen() -> None:
    exploration, simulator = started()
    before, told = list(exploration.events), []

    @exploration.on_event
    def hear(event: Event) -> None:
        assert exploration.events[-1] is event
        told.append(event)

    drive(exploration, simulator, strength(BEGUN, 3000))
    while not told:
        drive(exploration, simulator, 1)
        assert exploration.steps < 3000
    assert before + told == list(exploration.events) and callable(hear)


def test_home_was_met_also_when_nothing_else_was_done_before_the_end() -> None:
    exploration, _ = started()
    exploration.observe(exploration.next_action(), TWO_ROOMS.start)
    assert exploration.can_snapshot and exploration.states == 1
    resumed = Exploration(SETTINGS, 0, exploration.to_state())
    assert resumed.states == 1 and resumed.home == TWO_ROOMS.start and resumed.steps == 1
    assert resumed.status == exploration.status and resumed.last_state == TWO_ROOMS.start
    assert Exploration(SETTINGS).states == 0


@pytest.mark.parametrize('options', [
    {}, {'base': 'ucb_explore'}, pytest.param(
        {'checks': 'hoeffding', 'check_window': 1}, marks=thorough(
            'core/test_exploration.py::test_the_numbers_of_states_stand_for_nothing'))])
def test_the_numbers_of_states_stand_for_nothing(options: dict[str, Value]) -> None:
    """Large and negative ones, each time another object, lead to the same as 0, 1, 2 and so on."""
    problem = Problem(len(WHEEL.actions), 4.0, 1.0, 0.1)
    played: list[list[int]] = []
    for scale, shift in ((1, 0), (10 ** 12 + 7, -3 * 10 ** 12)):
        exploration = Exploration(settings(problem, overrides=options))
        simulator = Simulator(WHEEL)
        played.append([])
        for step in range(strength(300, 2000)):
            if step == strength(180, 1000):
                simulator.change()
            action = exploration.next_action()
            played[-1].append(action)
            exploration.observe(action, scale * simulator.step(action) + shift)
    assert played[0] == played[1]
