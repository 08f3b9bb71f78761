# SPDX-License-Identifier: Apache-2.0

"""
Explore without ROS, as in a notebook: ``python3 examples/explore_without_ros.py``.

Needs numpy, scipy, PyYAML and transitions; with matplotlib it draws ``explore_without_ros.png``.
"""

from pathlib import Path
import sys

sys.path.append(str(Path(__file__).resolve().parents[1]))    # a clone that is not installed

from mnm_ros import load_scenario, sentence, Simulator  # noqa: E402
from mnm_ros.core import Exploration, play, Problem, settings  # noqa: E402

# %% A robot is a function: it executes an action (-1 is RESET) and returns the state it ends in.
rooms = load_scenario('two_rooms')
robot = Simulator(rooms, seed=1)

# %% What is asked for: every state within 4 expected steps of home, and a way to each.
problem = Problem(actions=len(rooms.actions), radius=4.0, epsilon=1.0, delta=0.1)
exploration = Exploration(settings(problem, preset='onboard'), seed=1)

# %% Explore. In the middle the door between the two rooms closes.
known = []
for step in range(80):
    if step == 40:
        robot.change()
    play(exploration, robot.step, steps=500)
    known.append(len(exploration.hypothesis.targets) if exploration.hypothesis else 0)

# %% What was decided when, and what is known in the end.
for event in exploration.events:
    print(f'step {event.step:6}: {sentence(event.said)}')
for policy in exploration.hypothesis.policies:
    first = policy.action(0, exploration.home)
    name = 'RESET' if first == -1 else rooms.actions[first]
    print(f'to state {policy.target:2} begin with {name}')
print(f'{sum(sum(row.values()) for row in exploration.counts.values())} transitions counted')

# %% The number of known states over time.
try:
    from matplotlib.figure import Figure
except ImportError:
    print('no picture: matplotlib is not installed')
else:
    figure = Figure(figsize=(7, 3), layout='tight')
    axes = figure.add_subplot(xlabel='steps', ylabel='known states')
    axes.step(range(500, 40_001, 500), known, where='post')
    axes.axvline(20_000, linestyle=':', color='black')
    axes.text(20_300, 0, 'the door closes')
    figure.savefig('explore_without_ros.png')
