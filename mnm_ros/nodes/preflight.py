# SPDX-License-Identifier: Apache-2.0

"""
Check a robot side before a trial, and predict the duration of the exploration.

The robot moves: it executes RESET, every action from home, then the actions with the fewest
tries, and ends at home. No other node may command the robot during the check. The exit status is 0
if every line says ok.
"""

from __future__ import annotations

from collections.abc import Iterator
import signal
import sys
import time

from mnm_ros import messages
from mnm_ros.core.errors import MessageError
from mnm_ros.core.model.problem import Problem, radius_for_all
from mnm_ros.nodes.common.callbacks import every, seconds_of
from mnm_ros.nodes.common.graph_watch import known_name, RobotSides
from mnm_ros.nodes.common.spin import run
from mnm_ros.parameters import NODES, Parameters
from mnm_ros.protocol.exchange import RetryTimer
from mnm_ros.robot_description import difference, RobotDescription
from mnm_ros.topics import ros_domain
from mnm_ros.trial.probe import Probe, ProbeResult, ProbeRun
from rclpy.node import Node
from std_msgs.msg import Int64MultiArray, String

_DESCRIPTION = 'robot_side'
_TICK = 0.05       # s, resolution of timeouts
_FIND = 5.0        # s, to find the robot side
_STILL = 1.0       # s without new nodes, from when on all are known and messages arrive;
_LONGEST = 5.0     # s, to wait for that where nodes come and go all the time
_PROGRESS = 10.0   # s, between two lines of the log
_RETRIES = 2       # times a command is sent again


class PreflightNode(Node):
    """
    Plays the probe, prints what was checked and ends.

    :ivar ok: whether all checks were passed.
    """

    def __init__(self) -> None:
        super().__init__('preflight')
        self.ok = False
        given = self._given = Parameters(self, NODES['preflight'])
        self._probe_run: ProbeRun | None = None    # None before the actions are known
        self._wrong = ''    # what the robot side says it is
        self._nameless = (f'the robot side does not name its actions on {_DESCRIPTION}, '
                          "and the parameter 'actions' is not set")
        self._publisher = self.create_publisher(Int64MultiArray, 'action', messages.STEP)
        self._states = self.create_subscription(
            Int64MultiArray, 'state', self._on_state, messages.STEP)
        if given.is_set('actions') and given.is_set('radius'):
            self._prepare()
        self.create_subscription(
            String, _DESCRIPTION, self._on_description, messages.LATCHED_BY_MANY)
        self._robots = RobotSides(
            self, self._publisher.topic_name, self._states.topic_name)
        self._started_at = self._reported = self._changed_at = time.monotonic()
        self._found_at: float | None = None
        self._over_at: float | None = None
        self._started = False
        self._nodes: list[tuple[str, str]] = []
        self._malformed = 0
        self._timer = every(_TICK, self, self._tick)

    def _prepare(self) -> None:
        """Make the probe for the actions and the radius, which are declared or found."""
        given = self._given
        names = given['actions']
        self._problem = Problem(
            len(names), given['radius'], given['epsilon'], given['delta'])
        self._probe = Probe(
            len(names), given['radius'], given['resets'], given['steps'], given['seed'])
        self._probe_run = ProbeRun(
            names, self._probe,
            RetryTimer(given['step_timeout'], _RETRIES), time.time_ns(),
            lambda seq, action: self._publisher.publish(messages.encode_step(seq, action)),
            seconds_of(self))

    def _on_description(self, message: String) -> None:
        try:
            description = RobotDescription.from_text(message.data)
        except ValueError as error:
            self._wrong = f'what the robot side says on {_DESCRIPTION} is wrong: {error}'
            return
        self._wrong = ''
        if self._probe_run is None:
            try:
                if not self._given.is_set('radius'):
                    self._given.find('radius', radius_for_all(
                        description.declaration, description.home))
            except ValueError as error:
                self._wrong = str(error)
                return
            self._given.find('actions', description.actions)
            self._prepare()
        if not difference(description, self._given['actions']):
            self._probe.declaration = description.declaration

    def _tick(self) -> None:
        now = time.monotonic()
        self._look(now)
        wrong = self._others() or self._other_robots()
        if wrong:
            self._end(*(self._run.findings() if self._over_at is not None else ()), wrong)
        elif self._over_at is not None and self._settled(self._over_at, now):
            self._end(*self._findings())
        elif self._started and self._over_at is None:
            self._run.tick(now)
            self._report_progress(now)
            self._over_at = now if self._run.over else None
        elif self._started:
            return    # another node may still appear
        elif self._found_at is not None and self._settled(self._found_at, now):
            self._start(now)
        elif self._found_at is None and not self._missing():
            self._found_at = now
        elif self._found_at is None and now > self._started_at + _FIND:
            self._end(ProbeResult(
                'robot side', False, f'{self._missing()}; waited for {_FIND:g} s'))

    @property
    def _run(self) -> ProbeRun:
        assert self._probe_run is not None
        return self._probe_run

    def _look(self, now: float) -> None:
        """Record when nodes have come or gone."""
        nodes = sorted(self.get_node_names_and_namespaces())
        if nodes != self._nodes:
            self._nodes, self._changed_at = nodes, now

    def _settled(self, since: float, now: float) -> bool:
        """Return whether all nodes have been found, some time after ``since``."""
        return now > max(since, self._changed_at) + _STILL or now > since + _LONGEST

    def _others(self) -> ProbeResult | None:
        """
        Return which nodes command the robot as well, or are about to; None if there are none.

        An explorer publishes ``action`` only some time after it has found the robot, but the
        topic on which explorers agree who commands it from the beginning.
        """
        topic = self._publisher.topic_name
        for name, own in ((topic, 1), (f'{topic}/driver', 0)):
            publishers = list(map(known_name, self.get_publishers_info_by_topic(name)))
            if len(publishers) > own:
                if own and self.get_fully_qualified_name() in publishers:
                    publishers.remove(self.get_fully_qualified_name())
                return ProbeResult('alone', False, f'another node publishes {name}: '
                                   f'{", ".join(sorted(publishers))}; expected no other')
        return None

    def _other_robots(self) -> ProbeResult | None:
        robots = sorted(self._robots.look().values())
        if len(robots) <= 1:
            return None
        return ProbeResult(
            'robot side', False, f'{len(robots)} robot sides at once: {", ".join(robots)}; '
            'expected one (one that was killed is seen for some 20 s)')

    def _start(self, now: float) -> None:
        print(ProbeResult('robot side', True, f'subscribes {self._publisher.topic_name} and '
                          f'publishes {self._states.topic_name}'), flush=True)
        self._started = True
        self._run.start(now)

    def _missing(self) -> str:
        where = f'in ROS domain {ros_domain()}; start the robot side there first'
        if not self._publisher.get_subscription_count():
            return f'no node subscribes {self._publisher.topic_name} reliably {where}'
        if not self.count_publishers(self._states.topic_name):
            return f'no node publishes {self._states.topic_name} {where}'
        return self._wrong or ('' if self._probe_run is not None else self._nameless)

    def _on_state(self, message: Int64MultiArray) -> None:
        now = time.monotonic()
        if not self._started or self._over_at is not None:
            # It answers an order of another node, which on a busy machine is found seconds later.
            self._changed_at = now
            return
        try:
            seq, state = messages.decode_step(message)
        except MessageError:
            self._malformed += 1
        else:
            self._run.on_state(seq, state, now)

    def _report_progress(self, now: float) -> None:
        if now > self._reported + _PROGRESS:
            self._reported = now
            self.get_logger().info(f'{self._run.steps} steps so far')

    def _findings(self) -> Iterator[ProbeResult]:
        """Yield what has been found once the probe is over."""
        yield from self._run.findings()
        alone = not self._run.foreign
        yield ProbeResult('alone', alone, 'nobody else commands it' if alone else
                          f'somebody else publishes {self._publisher.topic_name}: a node that was '
                          'not found; expected nobody else to')
        if self._malformed:
            yield ProbeResult('messages', False, f'{self._malformed} on '
                              f'{self._states.topic_name} are not [seq, state]')

    def _end(self, *findings: ProbeResult) -> None:
        self._timer.cancel()
        for finding in findings:
            print(finding, flush=True)
        if self._probe_run is not None:
            for line in self._probe_run.outlook(self._problem, self._given['states']):
                print(line, flush=True)
        self.ok = all(finding.ok for finding in findings)
        signal.raise_signal(signal.SIGINT)    # run() ends the node in its own way


def main(args: list[str] | None = None) -> int:
    """Run the node ``preflight``; 0 if the robot side has passed."""
    nodes: list[PreflightNode] = []

    def make_node() -> PreflightNode:
        nodes.append(PreflightNode())
        return nodes[0]

    return run('preflight', make_node, args) or int(any(not node.ok for node in nodes))


if __name__ == '__main__':
    sys.exit(main())
