# SPDX-License-Identifier: Apache-2.0

"""Gymnasium environments as robots, with the real library."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
import json
from math import comb, log
from pathlib import Path
from typing import Any

from node_processes import Peer
import numpy as np
import pytest
from tiers import thorough

gymnasium = pytest.importorskip('gymnasium', reason='gymnasium is not installed')

from mnm_ros.core.errors import ParameterError  # noqa: E402, I100
from mnm_ros.messages import PolicySet  # noqa: E402
from mnm_ros.nodes.gym_side import make  # noqa: E402
from mnm_ros.simulation.cmp import TableCmp  # noqa: E402
from mnm_ros.simulation.ground_truth import judge, reachable_states  # noqa: E402
from mnm_ros.simulation.gym_robot import action_names, declared, GymRobot  # noqa: E402
from std_msgs.msg import Int64MultiArray  # noqa: E402

CLIFF = max(name for name in gymnasium.registry if name.startswith('CliffWalking-v'))
TAXI = max(name for name in gymnasium.registry if name.startswith('Taxi-v'))
FROZEN_LAKE = 'FrozenLake-v1'


def outcomes(env: Any, state: int, action: int) -> dict[int, float]:
    """Return the probabilities of the next states in the library's own table."""
    found: dict[int, float] = {}
    for probability, after, *_ in env.unwrapped.P[state][action]:
        if probability > 0:
            found[int(after)] = found.get(int(after), 0.0) + probability
    return found


def ends(env: Any) -> set[int]:
    """Return the states in which an episode is over."""
    return {int(after) for row in env.unwrapped.P.values() for cell in row.values()
            for probability, after, _, over in cell if over and probability > 0}


def cmp_of(env: Any, start: int) -> TableCmp:
    return TableCmp(start, int(env.action_space.n), {
        (state, action): tuple(outcomes(env, state, action).items())
        for state in env.unwrapped.P if state not in ends(env)
        for action in env.unwrapped.P[state]})


def tail(successes: int, trials: int, probability: float) -> float:
    """Return the exact probability of a count at least as far out on its side, at most 1."""
    weights = [comb(trials, k) * probability**k * (1 - probability)**(trials - k)
               for k in range(trials + 1)]
    return min(sum(weights[:successes + 1]), sum(weights[successes:]))


@thorough(shown_by=(
    'nodes/test_command.py::test_the_documented_frozen_lake_is_explored '
    'nodes/test_gym_recipes.py::test_minigrid '
    'nodes/test_gym_side.py::test_every_step_is_possible_and_ends_are_left_by_reset_only'))
def test_frozen_lake_explored_over_topics(start: Callable, peer: Peer) -> None:
    robot = start('gym_side', environment=FROZEN_LAKE, options='{"is_slippery": false}')
    peer.wait_for(lambda: 'actions: [left, down, right, up]' in robot.output, 'the actions')
    start('explorer', actions=['left', 'down', 'right', 'up'], radius=3.0)
    policies = peer.listen(Int64MultiArray, 'policies')
    peer.wait_for(lambda: policies and len(policies[-1].data) > 3, 'a hypothesis')
    truth = cmp_of(gymnasium.make(FROZEN_LAKE, is_slippery=False), 0)
    assert set(reachable_states(truth, 3.0)) == {
        cell for cell in range(16) if cell // 4 + cell % 4 <= 3}
    assert judge(truth, PolicySet.from_msg(policies[-1]), 3.0, 1.0).ok


@pytest.mark.parametrize(('environment', 'options'), [
    (FROZEN_LAKE, {'is_slippery': True}), (TAXI, {}),
    *(pytest.param(*case, marks=thorough(
        'nodes/test_gym_side.py::test_every_step_is_possible_and_ends_are_left_by_reset_only'))
      for case in ((FROZEN_LAKE, {'is_slippery': False}), (CLIFF, {})))])
def test_every_step_is_possible_and_ends_are_left_by_reset_only(
        environment: str, options: dict) -> None:
    env = make(environment, json.dumps(options))
    episodes, over = GymRobot(env, 3, True), ends(env)
    truth = gymnasium.make(environment, **options)
    rng = np.random.default_rng(0)
    home, visited = episodes.reset(), Counter()
    state = home
    for _ in range(5000):
        if rng.random() < 0.15:
            state = episodes.reset()
            assert state == home
            continue
        action = int(rng.integers(env.action_space.n))
        after = episodes.step(action)
        if state in over:
            assert after == state
        else:
            assert after in outcomes(truth, state, action)
        visited[state in over] += 1
        state = after
    assert visited[False] > 1000
    if environment == FROZEN_LAKE:
        assert visited[True] > 100


@pytest.mark.parametrize('seed', range(3))
def test_episodes_slip_independently_though_home_is_one(seed: int) -> None:
    """A seed given at every RESET would make all first steps of all episodes the same."""
    episodes = GymRobot(make(FROZEN_LAKE, '{}'), seed, True)
    trials, found = 600, Counter()
    for _ in range(trials):
        episodes.reset()
        found[episodes.step(2)] += 1    # right, from the corner: 0, 1 and 4, each with 1/3
    assert set(found) == {0, 1, 4}
    for state in found:
        assert tail(found[state], trials, 1 / 3) > 1e-6, (seed, found)


def test_a_time_limit_changes_nothing() -> None:
    episodes = GymRobot(make(FROZEN_LAKE, '{"max_episode_steps": 2, "is_slippery": false}'), 0,
                        True)
    assert [episodes.step(action) for action in (2, 2, 1, 1, 3)] == [1, 2, 6, 10, 6]
    assert episodes.reset() == 0 and episodes.step(1) == 4


@pytest.mark.parametrize(('one_home', 'least', 'most'), [(True, 1, 1), (False, 20, 500)])
def test_where_taxi_begins(one_home: bool, least: int, most: int) -> None:
    """300 states to begin in: 60 draws hit fewer than 20 of them with probability < 1e-30."""
    assert 60 * log(20 / 300) + log(comb(300, 20)) < log(1e-30)
    episodes = GymRobot(make(TAXI, '{}'), 5, one_home)
    assert least <= len({episodes.reset() for _ in range(60)}) <= most


def test_names_of_actions() -> None:
    assert action_names(make(TAXI, '{}'))[-1] == 'dropoff'
    assert action_names(make(CLIFF, '{}')) == ('up', 'right', 'down', 'left')
    env = make(FROZEN_LAKE, '{}')
    env.unwrapped.spec = None
    assert action_names(env.unwrapped) == ('a0', 'a1', 'a2', 'a3')


@pytest.mark.parametrize(('environment', 'options', 'message'), [
    ('', '{}', "parameter 'environment' is not set, expected the id"),
    ('NoSuchWorld-v0', '{}', "parameter 'environment' is 'NoSuchWorld-v0'"),
    ('CartPole-v1', '{}', r'observation space is Box\(.*, expected Discrete, or discretize, a '),
    ('Blackjack-v1', '{}', r'observation space is Tuple\(.*, expected Discrete, or discretize'),
    (FROZEN_LAKE, '[1]', r"parameter 'options' is '\[1\]', expected a JSON object"),
    (FROZEN_LAKE, '{"is', "parameter 'options' is '{\"is', expected a JSON object"),
    (FROZEN_LAKE, '{"slippery": 1}', "unexpected keyword argument 'slippery'")])
def test_what_is_refused(environment: str, options: str, message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        make(environment, options)


@pytest.mark.parametrize(('environment', 'options', 'states', 'chances'), [
    (FROZEN_LAKE, {}, 16, 16), (TAXI, {}, 101, 101),
    *(pytest.param(*case, marks=thorough(
        'nodes/test_gym_side.py::test_what_is_declared_is_what_is_played'))
      for case in ((FROZEN_LAKE, {'is_slippery': False}, 16, 16), (CLIFF, {}, 38, 38)))])
def test_what_is_declared_is_what_is_played(
        environment: str, options: dict, states: int, chances: int) -> None:
    env = make(environment, json.dumps(options))
    episodes = GymRobot(env, 3, True)
    declaration = declared(env, episodes.home)
    assert (len(declaration.successors), len(declaration.chances)) == (states, chances)
    declaration.check(int(env.action_space.n))
    rng = np.random.default_rng(0)
    played, state = Counter(), episodes.reset()
    for _ in range(5000):
        if rng.random() < 0.05:
            state = episodes.reset()
            continue
        action = int(rng.integers(env.action_space.n))
        before, state = state, episodes.step(action)
        assert state in declaration.successors[before][action]
        played[before, action] += 1
    for (before, action) in played:
        listed = dict(zip(declaration.successors[before][action],
                          declaration.chances[before][action]))
        own = {before: 1.0} if before in ends(env) else outcomes(env, before, action)
        assert {end: chance for end, chance in listed.items() if chance} == pytest.approx(own)


def test_the_table_of_an_environment_may_be_missing_or_another() -> None:
    env = make(FROZEN_LAKE, '{}')
    env.unwrapped.P = {0: {0: [(1.0, 1)]}}
    with pytest.raises((LookupError, TypeError, ValueError)):
        declared(env, 0)
    # State 1 is where an episode may be over, and where it may go on.
    env.unwrapped.P = {0: dict.fromkeys(range(4), [(0.5, 1, 0, True), (0.5, 1, 0, False)]),
                       1: dict.fromkeys(range(4), [(1.0, 0, 0, False)])}
    found = declared(env, 0)
    assert {*found.successors[1][3]} == {0, 1} and [*found.chances] == [0]
    del env.unwrapped.P
    assert not declared(env, 0)


def test_without_gymnasium_one_line(start: Callable, tmp_path: Path) -> None:
    path = tmp_path / 'without.py'
    path.write_text('import sys; sys.modules["gymnasium"] = None\n'
                    'from mnm_ros.nodes.gym_side import main; sys.exit(main())\n')
    node = start(str(path), environment='FrozenLake-v1')
    assert node.wait() == 1
    line, = node.output.splitlines()
    assert line.startswith('gym_side: ') and "pip install 'gymnasium" in line
