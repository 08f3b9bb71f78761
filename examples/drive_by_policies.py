# SPDX-License-Identifier: Apache-2.0

"""
Learn to subscribe to the policies, and to drive the robot by one of them without a navigator.

Start an explorer with its robot side. Then run ``python3 examples/drive_by_policies.py --ros-args
-p target:=2``. The program pauses the explorer, drives to the state, and lets the explorer go on.
"""

from pathlib import Path
import sys
import time

sys.path.append(str(Path(__file__).resolve().parents[1]))    # a clone that is not installed

try:
    from mnm_ros import LATCHED, PolicySet, STEP
    from mnm_ros.core import RESET, UnknownStateError
    import rclpy
    from rclpy.node import Node
    from rclpy.signals import SignalHandlerOptions
    from std_msgs.msg import Int64MultiArray
    from std_srvs.srv import SetBool
except ModuleNotFoundError as missing:
    sys.exit(f'{missing.name} cannot be imported: source a ROS 2, or run scripts/explore once, '
             'which makes .venv, and take .venv/bin/python3')


class PolicyDriver(Node):
    """Drive to ``target`` once the explorer has paused and a policy to the state is known."""

    def __init__(self) -> None:
        super().__init__('policy_driver')
        self.target = self.declare_parameter('target', 1).value
        self.policy = self.paused = self.action = None
        self.seq, self.step, self.arrived = time.time_ns(), 0, False
        self.explore = self.create_client(SetBool, 'explore')
        self.commands = self.create_publisher(Int64MultiArray, 'action', STEP)
        self.create_subscription(Int64MultiArray, 'policies', self.on_policies, LATCHED)
        self.create_subscription(Int64MultiArray, 'state', self.on_state, STEP)
        self.create_timer(0.5, self.send_again)

    def on_policies(self, message: Int64MultiArray) -> None:
        try:
            self.policy = PolicySet.from_msg(message).policy_for(self.target)
        except UnknownStateError as error:
            self.get_logger().info(str(error))

    def send_again(self) -> None:
        """Pause the explorer; then send the command whose answer is due, as it may be lost."""
        if self.policy is None or not self.explore.service_is_ready():
            return
        if self.paused is None:
            self.paused = self.explore.call_async(SetBool.Request(data=False))
        elif self.paused.done() and not self.arrived:
            self.command(RESET if self.action is None else self.action)

    def on_state(self, message: Int64MultiArray) -> None:
        seq, state = message.data
        if seq != self.seq or self.action is None or self.arrived:
            return
        self.arrived = state == self.target
        if not self.arrived:
            self.step = 0 if self.action == RESET else self.step + 1
            self.seq += 1
            self.command(self.policy.action(self.step, state))

    def command(self, action: int) -> None:
        self.action = action
        self.commands.publish(Int64MultiArray(data=[self.seq, action]))


def main() -> None:
    rclpy.init(signal_handler_options=SignalHandlerOptions.NO)    # Ctrl-C ends the loop below
    driver = PolicyDriver()
    try:
        while not driver.arrived:
            rclpy.spin_once(driver)
        print(f'in state {driver.target}')
    finally:    # the explorer goes on
        driver.arrived = True
        going_on = driver.explore.call_async(SetBool.Request(data=True))
        rclpy.spin_until_future_complete(driver, going_on, timeout_sec=10.0)
    rclpy.shutdown()


if __name__ == '__main__':
    main()
