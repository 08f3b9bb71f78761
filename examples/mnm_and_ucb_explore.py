# SPDX-License-Identifier: Apache-2.0

"""
Learn to compare MNM with UcbExplore in a world that changes, and to draw both in one picture.

Run ``python3 examples/mnm_and_ucb_explore.py``, without ROS; it needs matplotlib. A step counts as
an exploration step if what is known at that step is not good enough for the world.
"""

from dataclasses import replace
from pathlib import Path
import sys

sys.path.append(str(Path(__file__).resolve().parents[1]))    # a clone that is not installed

from mnm_ros import load_scenario, run_study  # noqa: E402

CLOSES, TAIL = 6_000, 2_500    # steps


def main() -> None:
    # %% A world: two rooms whose door closes.
    rooms = load_scenario('two_rooms')
    opened, closed, *_ = rooms.settings
    world = replace(rooms, settings=(
        replace(opened, until=CLOSES), replace(closed, until=None)))

    # %% UcbExplore begun once keeps what it found. MNM checks it, and explores again if need be.
    study = run_study([world], ['ucb_explore'], seeds=range(2), methods=['mnm', 'once'],
                      tail=TAIL, radius=3.0)
    print(study)

    # %% The mean of both seeds, and a band around it.
    study.plot('mnm_and_ucb_explore.png')
    print('mnm_and_ucb_explore.png has the picture')


if __name__ == '__main__':
    main()
