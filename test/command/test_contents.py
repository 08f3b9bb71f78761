# SPDX-License-Identifier: Apache-2.0

"""What was learnt, as a running explorer tells it: here by one that only pretends."""

from __future__ import annotations

from dataclasses import replace

from mnm_ros.command.knowledge import policies
from mnm_ros.core.model.policy import Hypothesis, Policy
from mnm_ros.core.progress.activity import Activity
from mnm_ros.core.progress.trust import PolicyTrust, Trust
from mnm_ros.robot_description import RobotDescription
from mnm_ros.view.telemetry import Telemetry
import pytest

subscriptions = pytest.importorskip('mnm_ros.subscriptions', reason='ROS 2 is not installed')

POLICY = Policy(2, 9, (0, 1, 2), ((0, 0, 0),))
MANY = Telemetry(
    phase='checking/evaluation', hypothesis=Hypothesis(1, 0, 9, ()), known=(0, 1, 2), reports=1,
    report={'steps': '80'}, counts={0: {0: {1: 9, 0: 1}}, 1: {0: {2: 5}, 1: {4: 1}}},
    activity=Activity(home=0, limit=8.0, expected_steps={0: 0.0, 1: 1.1, 2: 2.1}))


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch) -> list[Telemetry]:
    """Return what the explorer says, one after the other; the last one for good."""
    said: list[Telemetry] = []

    class Pretended:
        explorer, topic, may_be_described = '/explorer', '/phase', False

        def __init__(self, *_: object) -> None:
            pass

        def __enter__(self) -> Pretended:
            return self

        def __exit__(self, *_: object) -> None:
            pass

        def listen(self, seconds: float) -> Telemetry:
            return said.pop(0) if len(said) > 1 else said[0]

        def policy(self, target: int, timeout: float) -> Policy | None:
            return POLICY if target == POLICY.target else None

        def provisional_policies(self, timeout: float) -> tuple[Policy, ...]:
            return POLICY,

        def actions(self, timeout: float) -> tuple[str, ...]:
            return 'east', 'west'

    monkeypatch.setattr(subscriptions, 'Listener', Pretended)
    return said


def run(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    status = policies(['--timeout', '0.1', *words], 'mnm_ros policies')
    return (status, *capsys.readouterr())


def test_one_policy_is_asked_for_where_all_are_too_many(
        told: list[Telemetry], capsys: pytest.CaptureFixture[str]) -> None:
    told += [Telemetry(), MANY]
    status, out, _ = run(capsys)
    assert status == 0 and 'There are too many policies to tell all' in out
    assert '2          2.10' in out and out.endswith(
        'met, but outside the radius by the transitions so far: 4\n')
    status, out, _ = run(capsys, '2')
    assert status == 0 and out.startswith('to 2: 2.10 expected steps of at most 8\n')
    assert out.count('east') == 2    # by the names that the explorer has, as no robot side told
    status, out, error = run(capsys, '1')
    assert (status, out) == (1, '') and 'no policy to state 1 was told; known: ' in error


def test_names_are_those_of_the_robot_side(
        told: list[Telemetry], capsys: pytest.CaptureFixture[str]) -> None:
    told.append(replace(MANY, description=RobotDescription(
        ('ahead', 'back'), names={2: 'bench'})))
    status, out, _ = run(capsys, 'bench')
    assert status == 0 and out.startswith('to bench: ') and out.count('ahead') == 2
    assert run(capsys, 'Bench')[2].endswith('such as bench; did you mean bench?\n')


def test_an_explorer_without_a_hypothesis_says_so(
        told: list[Telemetry], capsys: pytest.CaptureFixture[str]) -> None:
    told.append(replace(MANY, hypothesis=None, known=(), phase='building/discovery'))
    status, out, error = run(capsys)
    assert (status, out) == (1, '')
    assert '/explorer has no hypothesis yet: 4 states were seen in 80 steps' in error


def test_before_the_first_hypothesis_it_tells_what_is_certified(
        told: list[Telemetry], capsys: pytest.CaptureFixture[str]) -> None:
    trust = {state: PolicyTrust(Trust(said), steps, None, 0, '', expected_seconds=seconds)
             for state, said, steps, seconds in (
                 (0, 'proven', 0.0, 0.0), (1, 'assumed', 2.5, 8.4), (2, 'certified', 2.5, 0.004),
                 (3, 'assumed', None, None))}
    told.append(replace(
        MANY, hypothesis=None, known=(), phase='building/discovery', trust=trust))
    status, out, _ = run(capsys)
    assert status == 0
    lines = out.splitlines()
    assert lines[0].startswith('/explorer: no hypothesis yet, 1 state certified after 80 steps')
    assert [line.split() for line in lines[2:4]] == [
        ['0', '0.00', 'home'], ['2', '2.10', '2', 'east', 'certified']]
    assert lines[4] == 'assumed: 1 (2.50 steps, about 8 s), 3'
    assert not [line for line in lines if 'hypothesis: ' in line or '- steps' in line]
    assert run(capsys, '1')[0] == 1


def test_what_is_proven_given_the_map_is_told_so(
        told: list[Telemetry], capsys: pytest.CaptureFixture[str]) -> None:
    told.append(replace(MANY, trust={state: PolicyTrust(
        Trust.PROVEN, 2.5, 8.0, 0, 'of round 1', declared=state) for state in MANY.known}))
    status, out, _ = run(capsys)
    assert status == 0
    assert out.count('proven, if the map is right') == sum(state > 0 for state in MANY.known) > 0


def test_the_way_to_a_state_that_is_certified_before_there_is_a_hypothesis(
        told: list[Telemetry], capsys: pytest.CaptureFixture[str]) -> None:
    told.append(replace(MANY, phase='building/discovery', known=(), hypothesis=None, trust={
        2: PolicyTrust(Trust.CERTIFIED, 2.1, 8.0, 0, 'certified')}))
    status, out, _ = run(capsys, '2')
    assert status == 0 and out.startswith('to 2: 2.10 expected steps of at most 8 (certified)\n')
    status, out, error = run(capsys, '1')
    assert (status, out) == (1, '') and 'has no hypothesis yet' in error
