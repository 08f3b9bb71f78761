# SPDX-License-Identifier: Apache-2.0

"""What a notebook uses, as the front of the core shows it."""

from __future__ import annotations

from pathlib import Path
import re
import textwrap

import mnm_ros
import mnm_ros.core
from mnm_ros.simulation.scenario import load
from mnm_ros.simulation.simulator import Simulator
from mnm_ros.view.sentences import sentence
import pytest
from tiers import strength

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize('package', [mnm_ros.core, mnm_ros])
def test_every_name_of_the_front_is_there(package: object) -> None:
    for name in package.__all__:    # type: ignore[attr-defined]
        if name not in ('NavigatorClient', 'PolicySet', 'RobotSide'):    # these need ROS
            assert getattr(package, name) is not None
    with pytest.raises(AttributeError, match='no_such_name'):
        assert package.no_such_name


def test_the_example_of_the_docstring() -> None:
    code = re.search(r'( {4}from mnm_ros.core.*?)\n\n``', mnm_ros.core.__doc__, re.DOTALL)[1]
    names: dict = {'robot': Simulator(load('grid_3x3'), 1).step}
    steps = strength('1_200', '20_000')
    assert 'steps=20_000' in code
    exec(re.sub(r'^ {4}', '', code.replace('20_000', steps), flags=re.MULTILINE), names)
    exploration = names['exploration']
    assert sorted(exploration.hypothesis.targets) == list(range(9))
    assert exploration.steps == int(steps) and exploration.counts
    assert [event.step for event in exploration.events] == sorted(
        event.step for event in exploration.events)
    assert 'states known' in ' '.join(sentence(event.said) for event in exploration.events)


def test_the_example_of_a_fleet(capsys: pytest.CaptureFixture[str]) -> None:
    page = (ROOT / 'docs' / 'explanation' / 'fleet.md').read_text(encoding='utf-8')
    code = re.search(r'```python\n(.*?)```', page, re.DOTALL)[1]
    radius, within = strength(('1.2', '[0, 1, 3'), ('4.0', '[0, 1, 2, 3, 4, 5, 6, 7, 8'))
    assert 'radius=4.0' in code
    robots = [Simulator(load('grid_3x3'), seed).step for seed in range(4)]
    exec(code.replace('4.0', radius), {'robots': robots})
    known, rounds = capsys.readouterr().out.split('] in ')
    assert known == within and int(rounds.split()[0]) < 800


def test_a_robot_that_returns_no_state_is_named() -> None:
    exploration = mnm_ros.core.Exploration(
        mnm_ros.core.settings(mnm_ros.core.Problem(2, 4.0, 1.0, 0.1)))
    with pytest.raises(TypeError, match='returned after action -1 is None, expected a state'):
        mnm_ros.core.play(exploration, lambda action: None, 1)


def test_a_gymnasium_environment_is_explored_in_one_call() -> None:
    gymnasium = pytest.importorskip('gymnasium', reason='gymnasium is not installed')
    name = 'CliffWalking-v1' if 'CliffWalking-v1' in gymnasium.registry else 'CliffWalking-v0'
    code = textwrap.dedent(mnm_ros.explore.__doc__.partition('::\n\n')[2].partition(':param')[0])
    names: dict = {}
    assert 'steps=3_000' in code
    code = code.replace('3_000', strength('1_500', '3_000'))
    exec(code.replace('CliffWalking-v1', name), names)
    # Home is the lower left corner, where the cliff leads back; two steps up the left side.
    assert {36, 24, 12} <= {*names['result'].known}
    assert names['result'].predict(36, target=12) == (0, None)


def test_the_example_of_trust(capsys: pytest.CaptureFixture[str]) -> None:
    robot, corridor = Simulator(load('corridor'), 0).step, load('corridor')
    exploration = mnm_ros.explore(robot, actions=corridor.actions, progress=False).exploration
    code = exploration.trust.__doc__.partition('::\n\n')[2].partition('        :param')[0]
    exec(textwrap.dedent(code), {'exploration': exploration})
    told = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert [(int(state), trust) for state, trust, *_ in told] == [
        (state, 'proven') for state in exploration.hypothesis.targets]
    assert [float(most) for *_, most in told] == [0.0] + [8.0] * (len(told) - 1)
