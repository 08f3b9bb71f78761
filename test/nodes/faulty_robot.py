# SPDX-License-Identifier: Apache-2.0

"""A robot that misbehaves in every way the tests ask for, and what is true of its corridor."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from mnm_ros.messages import PolicySet
from mnm_ros.simulation.ground_truth import judge
from mnm_ros.simulation.scenario import load
from node_processes import NodeProcess, Peer, read_counts, ScriptedRobot
from std_msgs.msg import Int64MultiArray, String
from std_srvs.srv import SetBool

Step = tuple[int, int, int]    # state, action, next state

TRUTH = """
name: corridor
actions: [east, west]
start: 0
settings:
  - transitions:
      0: {east: {1: 1.0}}
      1: {east: {2: 1.0}, west: {0: 1.0}}
      2: {west: {1: 1.0}}
"""


class FaultyRobot(ScriptedRobot):
    """
    A corridor of three states.

    misses: how many of the next RESETs end in state 1.
    stuck: actions that never change the state.
    trouble: called instead of answering with seq, after every ``every`` steps; returns whether
        the explorer is going to count the step.
    uncounted: steps that it is not going to count.
    """

    def __init__(self, peer: Peer) -> None:
        super().__init__(peer)
        self.pause = 0.0    # what it is asked for takes a number of steps
        self.misses = 0
        self.missed = 0
        self.stuck: set[int] = set()
        self.trouble: Callable[[FaultyRobot, int], bool] = FaultyRobot.behave
        self.every = 20
        self.troubles = 0
        self.uncounted: list[Step] = []
        self.answered: list[tuple[int, int]] = []
        self._troubled = 0

    def move(self, action: int) -> int:
        if action == -1 and self.misses:
            self.misses -= 1
            self.missed += 1
            return 1
        return self.state if action in self.stuck else super().move(action)

    def answer(self, seq: int) -> None:
        step = len(self.executed)
        if step % self.every or step == self._troubled:
            super().answer(seq)
        else:
            self._troubled = step
            self.troubles += 1
            if not self.trouble(self, seq):
                self.uncounted.append(self.executed[-1])
        self.answered.append((seq, self.state))

    def behave(self, seq: int) -> bool:
        self.send(seq, self.state)
        return True

    def send_with_offset(self, offset: int, *numbers: int) -> None:
        message = Int64MultiArray(data=array('q', numbers))
        message.layout.data_offset = offset
        self._publisher.publish(message)

    def later(self, seconds: float, call: Callable[[], None]) -> None:
        def once() -> None:
            timer.cancel()
            call()
        timer = self.peer.node.create_timer(seconds, once)


def as_steps(counts: dict[str, dict[str, dict[str, int]]]) -> Counter[Step]:
    return Counter({
        (int(state), int(action), int(after)): n for state, row in counts.items()
        for action, nexts in row.items() for after, n in nexts.items() if n})


def learns(peer: Peer, what: str = 'a hypothesis') -> list[Int64MultiArray]:
    """Wait for a hypothesis; return the list of those that were published."""
    policies = peer.listen(Int64MultiArray, 'policies')
    peer.wait_for(lambda: policies, what)
    return policies


def is_right(policies: list[Int64MultiArray], folder: Path, truth: str = TRUTH,
             radius: float = 4.0) -> bool:
    path = folder / 'truth.yaml'
    path.write_text(truth)
    cmp = load(str(path)).settings[0].cmp
    return judge(cmp, PolicySet.from_msg(policies[-1]), radius, 1.0).ok


def end(peer: Peer, process: NodeProcess, record: Path) -> Counter[Step]:
    """Pause after the step under way, end the explorer and return what it has counted."""
    phase = peer.listen(String, 'phase')
    peer.call(SetBool, 'explore', SetBool.Request(data=False))
    peer.wait_for(lambda: phase[-1].data in ('paused', 'done'), 'paused')
    peer.spin(0.2)    # a robot that was silent just then may still execute and answer
    assert process.stop() == 0, process.output
    return as_steps(read_counts(record))
