# SPDX-License-Identifier: Apache-2.0

"""What the explorer publishes when it knows many states, or learns them quickly."""

from __future__ import annotations

from collections.abc import Callable
import os
from pathlib import Path
import time

from learning_base import FAR, LARGER, MANY, policies, TREE, TreeRobot
from mnm_ros.messages import (
    decode_known_states,
    decode_policy,
    encode_known_states,
    encode_policy,
    LATCHED,
    PolicyAnswer,
    PolicySet,
    STEP,
)
from navigating import KNOWN, Operator
from node_processes import Peer, REST, ScriptedRobot
import pytest
from std_msgs.msg import Int64, Int64MultiArray
from tiers import strength, thorough

ALLOWED = 150.0    # MB


@pytest.fixture(autouse=True)
def bases_can_be_imported(monkeypatch: pytest.MonkeyPatch) -> None:
    """By the explorer, too."""
    monkeypatch.setenv('PYTHONPATH', os.pathsep.join(filter(None, (
        str(Path(__file__).parent), os.environ.get('PYTHONPATH')))))


def stamps(messages: list) -> list[tuple[int, int]]:
    return [PolicySet.from_msg(message).version for message in messages]


def test_policies_come_at_most_once_a_second_or_when_they_are_asked_for(
        explorer: Callable, peer: Peer) -> None:
    """The last ones are not lost."""
    heard: list[tuple[float, Int64MultiArray]] = []
    peer.node.create_subscription(
        Int64MultiArray, 'policies',
        lambda message: heard.append((time.monotonic(), message)), LATCHED)
    known = peer.listen(Int64MultiArray, 'known_states')
    explorer(**TREE, base='learning_base:one_by_one')
    robot = TreeRobot(peer)
    peer.wait_for(lambda: known and len(decode_known_states(known[-1])[1]) == MANY,
                  f'{MANY} states')
    robot.pause = REST
    peer.wait_for(lambda: len(heard) >= len(known), 'as many policies')
    last = PolicySet.from_msg(heard[-1][1])
    assert last.policies == policies(MANY)
    assert stamps([message for _, message in heard]) == [
        decode_known_states(message)[0] for message in known]
    assert len(heard) > 1
    if strength(False, True):    # else shown by test_load_and_publish, which needs no clock
        seconds = heard[-1][0] - heard[0][0]
        assert len(heard) - 1 <= seconds + 0.5    # one may have been late
    stamp = decode_known_states(known[-1])[0]
    assert ask(peer, FAR) == PolicyAnswer(stamp, FAR, policies(MANY)[FAR])
    assert ask(peer, 777) == PolicyAnswer(stamp, 777, None)


def ask(peer: Peer, target: int) -> PolicyAnswer:
    """Return the answer on ``policy``; asks again, as a request may be too early."""
    heard = peer.listen(Int64MultiArray, 'policy', STEP)
    requests = peer.node.create_publisher(Int64, 'policy/request', STEP)
    asked_at = 0.0

    def answer() -> PolicyAnswer | None:
        nonlocal asked_at
        if time.monotonic() > asked_at + 0.5:
            asked_at = time.monotonic()
            requests.publish(Int64(data=target))
        return next((found for found in map(decode_policy, heard) if found.target == target),
                    None)

    return peer.wait_for(answer, f'the policy for {target}')


def test_a_navigator_asks_for_the_policies_that_are_not_published(
        start: Callable, peer: Peer, robot: ScriptedRobot, operator: Operator) -> None:
    answers = peer.node.create_publisher(Int64MultiArray, 'policy', STEP)
    asked: list[int] = []

    def answer(message: Int64) -> None:
        asked.append(message.data)
        answers.publish(encode_policy(KNOWN, message.data))

    peer.node.create_subscription(Int64, 'policy/request', answer, STEP)
    none = PolicySet(KNOWN.round, KNOWN.revision, KNOWN.horizon, ())
    for topic, message in (('known_states', encode_known_states(KNOWN)),
                           ('policies', none.to_msg())):
        peer.node.create_publisher(Int64MultiArray, topic, LATCHED).publish(message)
    start('navigator')
    operator.wait_for_navigator()
    peer.wait_for(answers.get_subscription_count, 'the subscription')
    assert not asked
    assert went(operator, peer, 2) == 'reached 2 in 2 steps' and {*asked} == {2}
    assert went(operator, peer, 1).startswith('reached 1 in ') and {*asked} == {1, 2}


@thorough('nodes/test_many_states.py::'
          'test_a_navigator_asks_for_the_policies_that_are_not_published '
          'nodes/test_many_states.py::test_more_than_a_thousand_states_take_little_memory')
def test_beyond_the_limit_policies_are_empty_and_the_navigator_asks(
        explorer: Callable, start: Callable, peer: Peer) -> None:
    heard = peer.listen(Int64MultiArray, 'policies')
    known = peer.listen(Int64MultiArray, 'known_states')
    explorer(**TREE, base='learning_base:one_by_one', policies_up_to=MANY - 1)
    robot = TreeRobot(peer)
    peer.wait_for(lambda: known and len(decode_known_states(known[-1])[1]) == MANY,
                  f'{MANY} states')
    robot.pause = REST
    stamp = decode_known_states(known[-1])[0]
    peer.wait_for(lambda: stamps(heard[-1:]) == [stamp], 'the same hypothesis on both topics')
    assert PolicySet.from_msg(heard[-1]).policies == ()

    # That all of them are within reach is news to a first run that knew two, and they are doubted.
    start('navigator', least_trust='doubted')
    operator = Operator(peer)
    operator.wait_for_navigator()

    went(operator, peer, 12)    # it may stand at the next goal
    assert went(operator, peer, FAR) in (
        f'reached {FAR} in 2 steps', f'reached {FAR} in 1 steps')    # on its way
    assert went(operator, peer, 12) == 'reached 12 in 1 steps'


def went(operator: Operator, peer: Peer, goal: int) -> str:
    """Return the result of a goal; on a busy machine, a policy may be heard too late."""
    def result() -> str:
        said = operator.go(goal)
        return '' if 'no message with its policy came within' in said else said
    return peer.wait_for(result, f'goal {goal}')


def test_more_than_a_thousand_states_take_little_memory(
        explorer: Callable, peer: Peer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv('MNM_FORK', '0')    # a fork shares the memory of what others have imported
    known = peer.listen(Int64MultiArray, 'known_states')
    heard = peer.listen(Int64MultiArray, 'policies')
    process = explorer(**TREE, base='learning_base:large')
    TreeRobot(peer)
    peer.wait_for(lambda: known and len(decode_known_states(known[-1])[1]) == LARGER,
                  f'{LARGER} states')
    stamp = decode_known_states(known[-1])[0]
    peer.wait_for(lambda: stamps(heard[-1:]) == [stamp], 'the same hypothesis on both topics')
    assert PolicySet.from_msg(heard[-1]).policies == ()
    lines = Path(f'/proc/{process.pid}/status').read_text().splitlines()
    taken = next(int(line.split()[1]) / 1024 for line in lines if line.startswith('VmRSS:'))
    print(f'{taken:.0f} MB')
    assert taken < ALLOWED
