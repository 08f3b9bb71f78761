# SPDX-License-Identifier: Apache-2.0

"""
Learn to explore a robot that is a function, without ROS, while a door closes.

Run ``python3 examples/explore_without_ros.py``. It needs numpy, scipy, PyYAML, rich and
transitions; with matplotlib it draws ``explore_without_ros.png``.
"""

from pathlib import Path
import sys

sys.path.append(str(Path(__file__).resolve().parents[1]))    # a clone that is not installed

from mnm_ros import explore, load_scenario, play, sentence, Simulator  # noqa: E402

STEPS = 1_600

# %% A robot is a function: it executes an action (-1 is RESET) and returns the state it ends in.
rooms = load_scenario('two_rooms')
robot = Simulator(rooms, seed=1)

# %% Explore all states within 4 expected steps of home, and learn a policy to each.
result = explore(robot.step, STEPS, actions=rooms.actions, radius=4.0, seed=1)
print(f'{len(result.known)} states are known')

# %% The door between the two rooms closes. The exploration goes on, and nobody tells it.
robot.change()
play(result.exploration, robot.step, STEPS)

# %% What was decided when, and what is known in the end.
for event in result.events:
    print(f'step {event.step:5}: {sentence(event.said)}')
for state, policy in result.policies.items():
    first = policy.action(0, result.exploration.home)
    name = 'RESET' if first == -1 else rooms.actions[first]
    print(f'to state {state:2} begin with {name}')

# %% The number of known states over time.
try:
    from matplotlib.figure import Figure
except ImportError:
    print('no picture: matplotlib is not installed')
else:
    figure = Figure(figsize=(7, 3), layout='tight')
    axes = figure.add_subplot(xlabel='steps', ylabel='known states')
    steps, hypotheses = zip(*result.hypotheses)
    known = [0, *(len(hypothesis.targets) for hypothesis in hypotheses)]
    axes.stairs(known, [0, *steps, 2 * STEPS], baseline=None)
    axes.axvline(STEPS, linestyle=':', color='black')
    axes.text(STEPS + 50, 0, 'the door closes')
    figure.savefig('explore_without_ros.png')
