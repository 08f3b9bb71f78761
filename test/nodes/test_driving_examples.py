# SPDX-License-Identifier: Apache-2.0

"""The examples that drive a robot by what an explorer has learnt."""

from __future__ import annotations

from collections.abc import Callable

from in_process import navigating_here
from navigating import KNOWN, Operator, publish
from node_processes import Peer, ScriptedRobot
from pages import ROOT
import pytest
from std_srvs.srv import SetBool

EXAMPLES = ROOT / 'examples'


def test_goals_are_reached_one_after_the_other(
        start: Callable, peer: Peer, operator: Operator, monkeypatch: pytest.MonkeyPatch) -> None:
    navigating_here(peer, operator, monkeypatch)()
    robot = ScriptedRobot(peer)
    program = start(str(EXAMPLES / 'goals.py'), states=[2, 0, 99])
    peer.wait_for(lambda: not program.running, 'the end')
    assert program.wait() == 1, program.output
    assert [line for line in program.output.splitlines() if not line.endswith('so far')] == [
        'reached 2 in 2 steps', 'reached 0 in 0 steps', 'refused 99: no policy leads there',
        '2 of 3 goals reached']
    assert robot.state == 0


def test_a_policy_is_driven_while_the_explorer_pauses(start: Callable, peer: Peer) -> None:
    robot, asked = ScriptedRobot(peer), []

    def pause(request: SetBool.Request, response: SetBool.Response) -> SetBool.Response:
        asked.append((request.data, len(robot.executed)))
        response.success = True
        return response

    peer.node.create_service(SetBool, 'explore', pause)
    publish(peer, KNOWN)
    robot.mute = 1    # so that the first command has to be sent again
    program = start(str(EXAMPLES / 'drive_by_policies.py'), target=2)
    peer.wait_for(lambda: not program.running, 'the end')
    assert program.wait() == 0 and 'in state 2' in program.output, program.output
    assert [action for _, action, _ in robot.executed] == [-1, 0, 0] and robot.state == 2
    assert asked == [(False, 0), (True, 3)]
