# SPDX-License-Identifier: Apache-2.0

"""
Learn to write a robot side: a lift whose moves take time, while nothing blocks.

Run ``python3 examples/lift.py``, and beside it ``ros2 run mnm_ros explorer --ros-args
-p actions:='[up, down]' -p radius:=4.0``. RESET takes the lift to floor 0.
"""

from pathlib import Path
import sys

sys.path.append(str(Path(__file__).resolve().parents[1]))    # a clone that is not installed

try:
    from mnm_ros import RobotSide, run
except ModuleNotFoundError as missing:
    sys.exit(f'{missing.name} cannot be imported: source a ROS 2, or run scripts/explore once, '
             'which makes .venv, and take .venv/bin/python3')

TOP = 4


class Lift(RobotSide):
    action_names = ('up', 'down')

    def __init__(self):
        super().__init__('lift')
        self.floor = self.goal = 0
        period = self.declare_parameter('seconds_per_floor', 1.0).value
        self.motor = self.create_timer(period, self.reach_next_floor, clock=self.steady_clock)
        self.motor.cancel()

    def execute(self, action):
        return self.go_to(self.floor + (1 if action == 0 else -1))

    def return_home(self):
        return self.go_to(0)

    def cancel(self, reason):
        self.motor.cancel()
        return self.floor

    def go_to(self, goal):
        self.goal = min(max(goal, 0), TOP)
        if self.goal == self.floor:
            return self.floor    # it is there already, so the answer is due at once
        self.motor.reset()       # returns None: it takes time, arrived() follows

    def reach_next_floor(self):
        self.floor += 1 if self.goal > self.floor else -1
        if self.floor == self.goal:
            self.motor.cancel()
            self.arrived(self.floor)


if __name__ == '__main__':
    sys.exit(run('lift', Lift))
