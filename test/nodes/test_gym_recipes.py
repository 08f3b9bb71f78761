# SPDX-License-Identifier: Apache-2.0

"""Environments whose observations are not discrete: the recipes of the documentation run."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib import import_module
from itertools import product
import os
from pathlib import Path
import re
import sys
from types import ModuleType, SimpleNamespace
from typing import Any

from node_processes import Peer
import pytest
from tiers import strength

gymnasium = pytest.importorskip('gymnasium', reason='gymnasium is not installed')

from mnm_ros.core import Exploration, play, Problem, RESET, settings  # noqa: E402, I100
from mnm_ros.core.errors import ParameterError  # noqa: E402
from mnm_ros.nodes.gym_side import make, robot  # noqa: E402
from mnm_ros.robot_description import RobotDescription  # noqa: E402
from mnm_ros.simulation.cmp import Outcomes, TableCmp  # noqa: E402
from mnm_ros.simulation.ground_truth import judge, reachable_states  # noqa: E402
from mnm_ros.simulation.gym_robot import action_names, GymRobot  # noqa: E402
import numpy as np  # noqa: E402, I100
from std_msgs.msg import String  # noqa: E402

PAGE = Path(__file__).resolve().parents[2] / 'docs' / 'howto' / 'gymnasium_in_ros.md'
BLACKJACK = 'Blackjack-v1'
SEED = 4    # dealt 17
STICK, HIT = 0, 1
CARDS = {card: (4 if card == 10 else 1) / 13 for card in range(1, 11)}


@pytest.fixture
def recipes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ModuleType]:
    """Write the module that the page shows, where it can be imported, and return it."""
    code, = re.findall(r'```python\n(.*?)```', PAGE.read_text(encoding='utf-8'), re.DOTALL)
    (tmp_path / 'recipes.py').write_text(code)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setenv('PYTHONPATH', os.pathsep.join((str(tmp_path), os.environ['PYTHONPATH'])))
    yield import_module('recipes')
    del sys.modules['recipes']


def hits(hand: Callable, total: int, dealer: int, ace: bool) -> Outcomes:
    """Return what one more card comes to, by the rules of the game."""
    ends: dict[int, float] = {}
    for card, chance in CARDS.items():
        hard = total - 10 * ace + card
        soft = (ace or card == 1) and hard + 10 <= 21
        end = int(hand((hard + 10 * soft, dealer, soft), hard > 21, None))
        ends[end] = ends.get(end, 0.0) + chance
    return tuple(ends.items())


def blackjack(hand: Callable, env: Any, seed: int) -> TableCmp:
    """Return the game that begins with the hand of a seed."""
    (total, dealer, ace), _ = env.reset(seed=seed)
    table: dict[tuple[int, int], Outcomes] = {}
    for each in range(4, 22):
        for soft in (False, True):
            here = int(hand((each, dealer, soft), False, None))
            table[here, STICK] = ((int(hand((each, dealer, soft), True, None)), 1.0),)
            table[here, HIT] = hits(hand, each, dealer, soft)
    return TableCmp(int(hand((total, dealer, ace), False, None)), 2, table)


def grid(cell: Callable) -> TableCmp:
    """Return the empty room of 3 x 3 cells by the rules of MiniGrid; the goal ends an episode."""
    def number(x: int, y: int, direction: int) -> int:
        return int(cell(None, False, SimpleNamespace(unwrapped=SimpleNamespace(
            agent_pos=(x, y), agent_dir=direction, width=5, height=5))))
    table: dict[tuple[int, int], Outcomes] = {}
    for x, y, direction in product((1, 2, 3), (1, 2, 3), range(4)):
        ahead = x + (1, 0, -1, 0)[direction], y + (0, 1, 0, -1)[direction]
        after = ((x, y, (direction - 1) % 4), (x, y, (direction + 1) % 4),
                 (*ahead, direction) if {*ahead} <= {1, 2, 3} else (x, y, direction))
        table.update(((number(x, y, direction), action), ((number(*end), 1.0),))
                     for action, end in enumerate(after) if (x, y) != (3, 3))
    return TableCmp(number(1, 1, 0), 7, table)


def follows(player: GymRobot, truth: TableCmp, seed: int) -> None:
    """Play anything, and see that every step is a possible one."""
    rng, here = np.random.default_rng(seed), player.play(RESET)
    assert here == player.home == truth.start
    for _ in range(strength(500, 2000)):
        action = int(rng.integers(truth.actions)) if rng.random() < 0.8 else RESET
        before, here = here, player.play(action)
        assert here in dict(truth.transitions(before, action)), (before, action, seed)


def is_explored(player: GymRobot, truth: TableCmp, radius: float) -> bool:
    """Return whether all that is within the radius, and no less, is found and kept within."""
    exploration = Exploration(settings(
        Problem(truth.actions, radius, 1.0, strength(0.5, 0.1))), seed=1)
    while exploration.hypothesis is None and exploration.steps < 50_000:
        play(exploration, player.play, steps=100)
    return judge(truth, exploration.hypothesis, radius, 1.0).ok


def test_blackjack(recipes: ModuleType) -> None:
    truth = blackjack(recipes.hand, make(BLACKJACK, '{}', True), SEED)
    player = robot(make(BLACKJACK, '{}', True), SEED, True, 'recipes:hand')
    follows(player, truth, 0)
    assert len(reachable_states(truth, 3.0)) == 3    # the hand, given up, and bust
    assert is_explored(player, truth, 3.0)


def test_minigrid(recipes: ModuleType) -> None:
    pytest.importorskip('minigrid', reason='minigrid is not installed')
    env = make('minigrid:MiniGrid-Empty-5x5-v0', '{"max_steps": 5}', True)
    assert action_names(env) == (
        'left', 'right', 'forward', 'pickup', 'drop', 'toggle', 'done')
    truth, player = grid(recipes.cell), robot(env, 0, True, 'recipes:cell')
    follows(player, truth, 0)
    assert len(reachable_states(truth, 2.0)) == 9
    assert is_explored(player, truth, 2.0)


def test_the_node_takes_the_parameter(recipes: ModuleType, start: Callable, peer: Peer) -> None:
    process = start('gym_side', environment=BLACKJACK, discretize='recipes:hand', seed=SEED)
    said = peer.listen(String, 'robot_side')
    peer.wait_for(lambda: said, 'what the robot side is')
    assert 'states by recipes:hand; actions: [stick, hit]' in process.output
    home = blackjack(recipes.hand, make(BLACKJACK, '{}', True), SEED).start
    assert RobotDescription.from_text(said[0].data) == RobotDescription(
        ('stick', 'hit'), home, guarded=True)


@pytest.mark.parametrize(('code', 'message'), [
    (None, "No module named 'recipes'"),
    ('', "has no attribute 'hand'"),
    ('hand = 3', r'discretize is 3, expected a function discretize\(observation, over, env\)'),
    ('hand = len', 'discretize is <built-in function len>, expected a function'),
    ('hand = lambda *seen: seen[0]', r'returned for \(.*\) is \[.*\], expected a state'),
    ('hand = lambda *seen: True', 'is true, expected a state'),
    ('hand = lambda *seen: 1 << 64', 'is 18446744073709551616, expected a state'),
    ('import sys; sys.exit(2)', 'SystemExit: 2')])
def test_what_is_no_such_function(code: str | None, message: str, tmp_path: Path,
                                  monkeypatch: pytest.MonkeyPatch) -> None:
    if code is not None:
        (tmp_path / 'recipes.py').write_text(code)
    monkeypatch.syspath_prepend(str(tmp_path))
    try:
        with pytest.raises(ParameterError, match=(
                "parameter 'discretize' is 'recipes:hand', expected a module:function that is "
                f'given .* and returns an int: .*{message}')):
            robot(make(BLACKJACK, '{}', True), 0, True, 'recipes:hand')
    finally:
        sys.modules.pop('recipes', None)


def test_a_state_that_is_none_later_is_an_error() -> None:
    env = make(BLACKJACK, '{}', True)
    player = GymRobot(env, 0, discretize=lambda seen, over, _: 'over' if over else 0)
    with pytest.raises(ValueError, match='is "over", expected a state'):
        player.play(STICK)


def test_actions_have_to_be_discrete_all_the_same() -> None:
    with pytest.raises(ParameterError, match=r'its action space is Box\(.*, expected Discrete$'):
        make('Pendulum-v1', '{}', True)


def test_a_table_is_not_of_the_states_that_are_made(start: Callable) -> None:
    process = start('gym_side', environment='FrozenLake-v1', discretize='operator:index',
                    declare_successors=True)
    assert process.wait() == 1
    assert "parameter 'declare_successors' is True, expected False with 'dis" in process.output
