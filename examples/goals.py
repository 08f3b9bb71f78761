# SPDX-License-Identifier: Apache-2.0

"""
Learn to send a robot to known states from Python, one after the other.

Start an explorer and a navigator, as ``scripts/explore`` does. Then run ``python3
examples/goals.py --ros-args -p states:='[2, 0, 1]'``. Ctrl-C cancels the goal under way.
"""

from pathlib import Path
import sys

sys.path.append(str(Path(__file__).resolve().parents[1]))    # a clone that is not installed

try:
    from mnm_ros import NavigatorClient
    import rclpy
    from rclpy.node import Node
    from rclpy.signals import SignalHandlerOptions
except ModuleNotFoundError as missing:
    sys.exit(f'{missing.name} cannot be imported: source a ROS 2, or run scripts/explore once, '
             'which makes .venv, and take .venv/bin/python3')


def main() -> int:
    # rclpy's own handler would end the context before the goal could be cancelled.
    rclpy.init(signal_handler_options=SignalHandlerOptions.NO)
    node = Node('goals')
    client = NavigatorClient(node)
    reached = 0
    states = node.declare_parameter('states', [1, 2]).value
    try:
        for state in states:
            goal = client.go(state)    # a name of the robot side will do, too
            while not goal.wait(timeout=1.0):
                print(f'{goal.report.text}, {goal.report.steps} steps so far', flush=True)
            print(goal.report.text, flush=True)
            reached += goal.reached
    except KeyboardInterrupt:
        client.cancel()
        client.wait(5.0)    # until it is cancelled
        print(client.goal.report.text)
    print(f'{reached} of {len(states)} goals reached')
    rclpy.shutdown()
    return int(reached < len(states))


if __name__ == '__main__':
    sys.exit(main())
