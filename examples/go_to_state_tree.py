# SPDX-License-Identifier: Apache-2.0

"""
Learn to send a robot to known states from a behaviour tree: a leaf, and a round of leaves.

Start an explorer and a navigator, as ``scripts/explore`` does. Then run ``python3
examples/go_to_state_tree.py --ros-args -p states:='[2, 0, 1]'``. It needs py_trees.
"""

from pathlib import Path
import sys

sys.path.append(str(Path(__file__).resolve().parents[1]))    # a clone that is not installed

try:
    from mnm_ros import NavigatorClient
    import py_trees
    from py_trees.common import Status
    import rclpy
    from rclpy.node import Node
    from rclpy.signals import SignalHandlerOptions
except ModuleNotFoundError as missing:
    sys.exit(f'{missing.name} cannot be imported: source a ROS 2, or run scripts/explore once, '
             'which makes .venv, and take .venv/bin/python3')


class GoToState(py_trees.behaviour.Behaviour):
    """
    Succeeds once the robot is in the state; if the tree turns elsewhere, the goal is cancelled.

    A tick never waits. The node of the client has to be spun between the ticks.
    """

    def __init__(self, client, state):
        super().__init__(f'go to {state}')
        self.client, self.state = client, state
        self.goal = None

    def initialise(self):
        self.goal = self.client.go(self.state)

    def update(self):
        report = self.goal.report
        self.feedback_message = f'{report.text}, {report.steps} steps'
        if not self.goal.over:
            return Status.RUNNING
        return Status.SUCCESS if self.goal.reached else Status.FAILURE

    def terminate(self, new_status):
        if new_status == Status.INVALID and self.goal:
            self.goal.cancel()    # nothing if it is over


def main():
    # rclpy's own handler would end the context before the goal could be cancelled.
    rclpy.init(signal_handler_options=SignalHandlerOptions.NO)
    node = Node('round')
    states = node.declare_parameter('states', [1, 2]).value
    client = NavigatorClient(node)
    tree = py_trees.composites.Sequence(
        'round', memory=True, children=[GoToState(client, state) for state in states])
    try:
        while tree.status in (Status.INVALID, Status.RUNNING):
            tree.tick_once()
            print(tree.tip().feedback_message, flush=True)
            rclpy.spin_once(node, timeout_sec=0.1)
    except KeyboardInterrupt:
        tree.stop(Status.INVALID)
        client.wait(5.0)    # until it is cancelled
        print(client.goal.report.text)
    print(f'round: {tree.status.value}')
    rclpy.shutdown()
    return int(tree.status != Status.SUCCESS)


if __name__ == '__main__':
    sys.exit(main())
