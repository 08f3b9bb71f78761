# SPDX-License-Identifier: Apache-2.0

"""
Learn to explore a building whose states and actions have names, and to print the ways.

Run ``python3 examples/named_building.py``, without ROS. The building is a table of the rooms
beside each room. The robot finds a door closed in one of five tries.
"""

from pathlib import Path
import random
import sys

sys.path.append(str(Path(__file__).resolve().parents[1]))    # a clone that is not installed

from mnm_ros import explore, export_as, RobotDescription  # noqa: E402
from mnm_ros.core import RESET  # noqa: E402

BUILDING = {
    'dock': ['hall'],
    'hall': ['dock', 'kitchen', 'office', 'stairs'],
    'kitchen': ['hall', 'pantry'],
    'pantry': ['kitchen'],
    'office': ['hall', 'archive'],
    'archive': ['office'],
    'stairs': ['hall'],
}
ROOMS = [*BUILDING]    # a state is the place of a room in this list; RESET leads to the dock
DOORS = max(map(len, BUILDING.values()))


class Robot:
    """Go through door number ``action`` of a room, as numbered in ``BUILDING``."""

    def __init__(self) -> None:
        self.room, self.random = 'dock', random.Random(1)

    def step(self, action: int) -> int:
        doors = BUILDING[self.room]
        if action == RESET:
            self.room = 'dock'
        elif action < len(doors) and self.random.random() < 0.8:
            self.room = doors[action]
        return ROOMS.index(self.room)


def main() -> None:
    actions = [f'door {number}' for number in range(DOORS)]
    result = explore(Robot().step, actions=actions, radius=4.0, seed=1)
    for state, policy in result.policies.items():
        here, doors = 'dock', []
        while here != ROOMS[state]:
            doors.append(policy.action(0, ROOMS.index(here)))
            here = BUILDING[here][doors[-1]]
        print(f'to the {here}: {", ".join(actions[door] for door in doors) or "RESET"}')
    named = RobotDescription(tuple(actions), home=0, names=dict(enumerate(ROOMS)))
    Path('building.csv').write_bytes(export_as(result, 'states-csv', named))
    print('building.csv has the rooms, with the trust in the way to each')


if __name__ == '__main__':
    main()
