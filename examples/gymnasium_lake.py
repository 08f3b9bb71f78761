# SPDX-License-Identifier: Apache-2.0

"""
Learn to explore a Gymnasium environment in one call, to save the result, and to use it.

Run ``python3 examples/gymnasium_lake.py``, without ROS. It needs gymnasium, and pandas for the
table at the end. The result predicts actions as a model of Stable-Baselines3 does.
"""

from pathlib import Path
import sys

sys.path.append(str(Path(__file__).resolve().parents[1]))    # a clone that is not installed

import gymnasium  # noqa: E402
from mnm_ros import explore, ExportError, Recording  # noqa: E402
from mnm_ros.core import RESET  # noqa: E402


def main() -> None:
    # %% Explore: MNM ignores rewards, and learns a way to each state within the radius.
    env = gymnasium.make('FrozenLake-v1', is_slippery=False)
    result = explore(env, radius=6.0, seed=1)
    print(f'{len(result.known)} states after {result.exploration.steps} steps: {result.known}')

    # %% Keep it in a file, which `mnm_ros policies --from` and `mnm_ros export` read as well.
    result.save('lake.log.sqlite')
    result = Recording.load('lake.log.sqlite')

    # %% Walk to the goal of the lake. The action -1 is RESET, which is `env.reset()`.
    state, _ = env.reset(seed=1)
    steps = 0
    while state != 15:
        action, _ = result.predict(state, target=15)
        state = env.reset()[0] if action == RESET else env.step(action)[0]
        steps += 1
    print(f'in state 15 after {steps} steps')

    # %% How far each policy may be trusted, as a table.
    try:
        print(result.to_dataframe('trust').to_string(index=False))
    except ExportError as error:    # pandas is not installed
        print(error)


if __name__ == '__main__':
    main()
