# SPDX-License-Identifier: Apache-2.0

"""A simulated CMP as the robot, with injected faults and the ground truth."""

from __future__ import annotations

from dataclasses import replace
from heapq import heappop, heappush
from random import Random
import sys
import time
from typing import Any

from mnm_ros import messages
from mnm_ros.core.errors import FileError, ParameterError
from mnm_ros.core.model.declaration import Declaration
from mnm_ros.core.model.policy import Hypothesis
from mnm_ros.core.model.problem import RESET
from mnm_ros.nodes.common.callbacks import answering
from mnm_ros.nodes.common.spin import run, write_record
from mnm_ros.nodes.robot_side import RobotSide
from mnm_ros.parameters import NODES, Parameters
from mnm_ros.protocol.exchange import Command, REPORT
from mnm_ros.robot_description import RobotDescription
from mnm_ros.simulation.cmp import support
from mnm_ros.simulation.ground_truth import ExplorationSteps
from mnm_ros.simulation.scenario import changes, describe, load, Scenario
from mnm_ros.simulation.simulator import Simulator
from std_msgs.msg import Int64, Int64MultiArray
from std_srvs.srv import Trigger

_TRUTH_PERIOD = 0.1    # s, between publications of exploration_steps


class CmpSim(RobotSide):
    """Plays a scenario. The dynamics depend on the seed only, not on the faults."""

    def __init__(self, **node_arguments: Any) -> None:
        super().__init__('cmp_sim', **node_arguments)
        self._given = Parameters(self, NODES['cmp_sim'])
        try:
            scenario = load(self._given['scenario'])
        except FileError as error:
            raise ParameterError(f"parameter 'scenario': {error}") from None
        for warning in scenario.warnings:
            self.get_logger().warning(warning)
        seed = self._given['seed']
        self.action_names = scenario.actions
        self._simulator = Simulator(scenario, seed)
        # As a map, it stays when the world changes; a route graph declares itself.
        self._declaration = describe(scenario, self._simulator.setting).declaration or (
            support(self._simulator.cmp) if self._given['declare_successors'] else Declaration())
        if not self._given.is_set('radius'):
            self._given.find('radius', _radius(scenario))
        self._faults = Random(f'faults {seed}')
        self._delayed: list[tuple[float, int, int]] = []    # heap of due time, seq, state
        self._delay_timer = self.create_timer(1.0, self._send_due, clock=self.steady_clock)
        self._delay_timer.cancel()

        self._hypothesis: Hypothesis | None = None
        self._truth = ExplorationSteps(
            scenario, self._given['radius'], self._given['epsilon'])
        self._exploring: bool | None = None
        self._published = (-1, -1)    # setting, exploration steps
        self._setting_publisher = self.create_publisher(Int64, 'true_setting', messages.LATCHED)
        self._steps_publisher = self.create_publisher(Int64, 'exploration_steps', messages.LATCHED)
        messages.hear(self, Int64MultiArray, 'policies', messages.LATCHED,
                      self._checked, self._on_policies)
        self.create_service(
            Trigger, 'change', answering(self._on_change, self.allowance, 'change'))
        self.create_timer(_TRUTH_PERIOD, self._publish_truth, clock=self.steady_clock)
        self._publish_truth()

    def execute(self, action: int) -> int:
        setting = self._simulator.setting
        before = self._truth.total
        exploring = self._truth.count(setting, self._hypothesis) > before
        state = self._simulator.step(action)
        if exploring is not self._exploring or self._simulator.setting != setting:
            self._exploring = exploring
            self._publish_truth()
        return state

    def return_home(self) -> int:
        """Play RESET, a step like any other."""
        return self.execute(RESET)

    def describe(self) -> RobotDescription:
        return replace(describe(self._simulator.scenario, self._simulator.setting),
                       declaration=self._declaration)

    def send_state(self, seq: int, state: int) -> None:
        """Publish an answer, which a fault may lose, double or delay; reports are spared."""
        if seq == REPORT:
            super().send_state(seq, state)
            return
        if self._happens('drop_state'):
            return
        for _ in range(2 if self._happens('duplicate_state') else 1):
            delay = self._delay()
            if delay:
                heappush(self._delayed, (time.monotonic() + delay, seq, state))
                self._schedule()
            else:
                super().send_state(seq, state)

    def close(self) -> None:
        """Log how many steps were executed, and write the counts if ``record`` is set."""
        steps = self._simulator.steps
        self.get_logger().info(f'{steps} steps, {self._truth.total} exploration steps')
        write_record(self, self._given['record'], self._simulator.counts)

    def _on_command(self, command: Command) -> None:
        if not self._happens('drop_action'):
            super()._on_command(command)

    def _happens(self, fault: str) -> bool:
        probability = self._given[fault]
        return probability > 0 and self._faults.random() < probability

    def _delay(self) -> float:
        delay = self._given['latency'] + self._given['jitter'] * self._faults.random()
        every = self._given['stall_every']
        if every and self._simulator.steps % every == 0:
            delay += self._given['stall_for']
        return delay

    def _schedule(self) -> None:
        self._delay_timer.cancel()
        if self._delayed:
            wait = self._delayed[0][0] - time.monotonic()
            self._delay_timer.timer_period_ns = max(1000, int(wait * 1e9))
            self._delay_timer.reset()

    def _send_due(self) -> None:
        now = time.monotonic()
        while self._delayed and self._delayed[0][0] <= now:
            _, seq, state = heappop(self._delayed)
            super().send_state(seq, state)
        self._schedule()

    def _checked(self, message: Int64MultiArray) -> Hypothesis:
        """Return the policies of a message; ValueError if they are not of this scenario."""
        hypothesis = messages.PolicySet.from_msg(message)
        self._truth.verdict(self._simulator.setting, hypothesis)
        return hypothesis

    def _on_policies(self, hypothesis: Hypothesis) -> None:
        self._hypothesis = hypothesis

    def _on_change(self, _: Trigger.Request) -> tuple[bool, str]:
        simulator = self._simulator
        before, changed = simulator.setting, simulator.change()
        self._publish_truth()
        if not changed:
            return self.requests.called('change', 'change', (
                False, 'the scenario has no other setting'))
        found = changes(simulator.scenario, before, simulator.setting)
        return self.requests.called('change', 'change', (
            True, ': '.join(filter(None, (f'setting {simulator.setting} is in force', found)))))

    def _publish_truth(self) -> None:
        setting, steps = self._published
        self._published = self._simulator.setting, self._truth.total
        if self._published[0] != setting:
            self._setting_publisher.publish(Int64(data=self._published[0]))
            self.describe_again()    # walls may have moved
        if self._published[1] != steps:
            self._steps_publisher.publish(Int64(data=self._published[1]))


def _radius(scenario: Scenario) -> float:
    try:
        return scenario.radius
    except ValueError as error:
        raise ParameterError(f"parameter 'radius': {error}") from None


def main(args: list[str] | None = None) -> int:
    """Run the node ``cmp_sim``."""
    return run('cmp_sim', CmpSim, args)


if __name__ == '__main__':
    sys.exit(main())
