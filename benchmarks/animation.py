# SPDX-License-Identifier: Apache-2.0

"""
Draws an exploration as a moving picture, docs/figures/exploration.gif.

Two rooms are explored, the door between them closes, and opens again. Nothing in it is staged but
the moments of the changes, which wait until what there was before has been learnt.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
import sys
import textwrap

from arguments import Arguments
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from mnm_ros.core import Exploration, Policy, Problem, settings
from mnm_ros.robot_description import RobotDescription
from mnm_ros.simulation.ground_truth import ExplorationSteps
from mnm_ros.simulation.scenario import describe, load
from mnm_ros.simulation.simulator import Simulator
import numpy as np
from PIL import Image

ROOT = Path(__file__).resolve().parents[1]
INK = '#22303a'
COLORS = {'unseen': '#e6eaed', 'visited': '#a9cbe8', 'candidate': '#f6c667', 'known': '#7cc39a'}
ROUTE, CHANGE = '#1d6b46', '#b3383c'
AT_FIRST = 20          # pictures, with a tenth of the steps between them: much is new then
CHANGES = 2            # of the world
CALM = 1000            # steps between what has been learnt and the next change
COLORS_IN_FILE = 40    # enough for the few of the picture and the edges of its letters
PICTURE, PAUSE = 110, 2500    # ms, of a picture and of the last one


@dataclass(frozen=True)
class Frame:
    """What is to be seen after some steps."""

    steps: int
    robot: int
    home: int
    candidates: frozenset[int]
    visited: frozenset[int]
    free: frozenset[int]
    routes: dict[int, tuple[int, ...]]
    sentence: str
    changes: tuple[int, ...]


def record(stride: int, seed: int, most: int = 20_000) -> Iterator[Frame]:
    """Explore until all has been relearnt, and yield what is seen every ``stride`` steps."""
    scenario = load('two_rooms')
    robot = Simulator(scenario, seed)
    problem = Problem(actions=len(scenario.actions), radius=4.0, epsilon=1.0, delta=0.1)
    exploration = Exploration(settings(problem), seed)
    truth, waiting = ExplorationSteps(scenario, problem.radius, problem.epsilon), 0
    while robot.steps < most:
        action = exploration.next_action()
        exploration.observe(action, robot.step(action))
        learnt = truth.verdict(robot.setting, exploration.hypothesis).ok
        waiting = waiting + 1 if learnt else 0
        if robot.steps % (stride if robot.steps > AT_FIRST * stride // 10 else stride // 10) == 0:
            yield _frame(exploration, robot)
        if waiting >= CALM:
            if len(robot.changes) < CHANGES:
                robot.change()
                waiting = 0
            elif set(exploration.candidates) <= set(exploration.hypothesis.targets):
                yield _frame(exploration, robot)
                return


def _frame(exploration: Exploration, robot: Simulator) -> Frame:
    policies = exploration.hypothesis.policies if exploration.hypothesis else ()
    assert exploration.home is not None
    return Frame(
        robot.steps, robot.state, exploration.home, frozenset(exploration.candidates),
        frozenset(state for state, _ in robot.counts),
        frozenset(describe(robot.scenario, robot.setting).positions),
        {policy.target: _route(policy, exploration) for policy in policies},
        exploration.events[-1].text,
        tuple(steps for steps, _ in robot.changes))


def _route(policy: Policy, exploration: Exploration) -> tuple[int, ...]:
    """Return the states on the way to a target, if each move ends where it mostly did."""
    assert exploration.home is not None
    state, counts, route = exploration.home, exploration.counts, [exploration.home]
    for step in range(policy.horizon):
        if state == policy.target:
            break
        followed = counts.get((state, policy.action(step, state)), {state: 1})
        state = max((after for after in followed if after != state), default=state,
                    key=lambda after: followed[after])    # noqa: B023
        route.append(state)
    return tuple(route)


def draw(frames: Sequence[Frame]) -> list[Image.Image]:
    """Return a picture of each frame, all in the same few colours."""
    rooms = describe(load('two_rooms'), 0)
    pictures = [_picture(frames[:number + 1], frames[-1].steps, rooms)
                for number in range(len(frames))]
    # Taken from pictures from beginning to end, as no single one shows much of every colour.
    some = [np.asarray(picture) for picture in pictures[::max(1, len(pictures) // 10)]]
    palette = Image.fromarray(np.vstack(some)).quantize(COLORS_IN_FILE, dither=Image.Dither.NONE)
    return [picture.quantize(palette=palette, dither=Image.Dither.NONE) for picture in pictures]


def _picture(frames: Sequence[Frame], steps: int, rooms: RobotDescription) -> Image.Image:
    frame = frames[-1]
    figure = Figure(figsize=(7.2, 3.5), dpi=90, facecolor='white')
    canvas = FigureCanvasAgg(figure)
    _rooms(figure.add_axes((0.01, 0.2, 0.55, 0.74)), frame, rooms)
    _curve(figure.add_axes((0.65, 0.31, 0.32, 0.58)), frames, steps)
    for number, (name, color) in enumerate(COLORS.items()):
        x = 0.035 + 0.14 * number
        figure.patches.append(Rectangle((x, 0.135), 0.02, 0.04, facecolor=color, edgecolor=INK,
                                        linewidth=0.5, transform=figure.transFigure))
        figure.text(x + 0.028, 0.155, name, va='center', fontsize=9, color=INK)
    words = f'step {frame.steps:,}: {frame.sentence}'
    figure.text(0.03, 0.055, textwrap.shorten(words, 105), va='center', fontsize=10, color=INK)
    canvas.draw()
    return Image.fromarray(np.asarray(canvas.buffer_rgba())).convert('RGB')


def _rooms(axes: Axes, frame: Frame, rooms: RobotDescription) -> None:
    places, walls = rooms.positions, rooms.walls
    for state, (x, y) in places.items():
        kind = ('known' if state in frame.routes else
                'candidate' if state in frame.candidates else
                'visited' if state in frame.visited else 'unseen')
        color = COLORS[kind] if state in frame.free else INK
        axes.add_patch(Rectangle((x - 0.5, y - 0.5), 1, 1, facecolor=color, edgecolor='white',
                                 linewidth=1.5))
    for route in frame.routes.values():
        way = [places[state] for state in route]
        for start, end in pairwise(way):
            axes.annotate('', end, start, arrowprops={
                'arrowstyle': '-|>', 'color': ROUTE, 'linewidth': 1, 'shrinkA': 4, 'shrinkB': 7})
    for x1, y1, x2, y2 in walls:
        axes.plot((x1, x2), (y1, y2), color=INK, linewidth=3, solid_capstyle='round')
    x, y = places[frame.home]
    axes.text(x - 0.44, y + 0.42, 'home', fontsize=8, color=INK, va='top')
    axes.plot(*places[frame.robot], 'o', color=CHANGE, markersize=10, markeredgecolor='white')
    axes.set_aspect('equal')
    axes.margins(0.02)
    axes.set_axis_off()


def _curve(axes: Axes, frames: Sequence[Frame], steps: int) -> None:
    axes.plot([frame.steps for frame in frames], [len(frame.routes) for frame in frames],
              color=ROUTE, linewidth=2, drawstyle='steps-post')
    for number, change in enumerate(frames[-1].changes):
        axes.axvline(change, color=CHANGE, linestyle='--', linewidth=1)
        axes.text(change, 15.4, ('door closes ', 'door opens ')[number % 2], fontsize=8,
                  ha='right' if number % 2 == 0 else 'left', color=CHANGE, va='top')
    axes.set_xlim(0, steps)
    axes.set_ylim(0, 15.6)
    axes.set_yticks((0, 6, 13))
    axes.set_xticks(range(0, steps, 2000))
    axes.tick_params(labelsize=8, colors=INK)
    axes.set_xlabel('steps', fontsize=9, color=INK)
    axes.set_title('known cells', fontsize=10, color=INK, loc='left')
    for side in ('top', 'right'):
        axes.spines[side].set_visible(False)


def main(arguments: Sequence[str] | None = None) -> int:
    """Explore, draw and save."""
    parser = Arguments(__doc__)
    parser.add_argument(
        '--output', type=Path, default=ROOT / 'docs' / 'figures' / 'exploration.gif',
        metavar='FILE', help='where to write the picture (default docs/figures/exploration.gif)')
    parser.number('stride', 100, 'steps between two pictures, at the beginning a tenth of it')
    parser.number('seed', 1, 'of the robot and the explorer')
    parser.number('steps', 20_000, 'stop after so many at the latest')
    given = parser.read(arguments)
    if given.stride < 10 or given.steps < given.stride or given.seed < 0:
        parser.error('expected 10 <= --stride <= --steps and 0 <= --seed')
    first, *others = draw(list(record(given.stride, given.seed, given.steps)))
    first.save(given.output, save_all=True, append_images=others, loop=0, optimize=True,
               duration=[PICTURE] * len(others) + [PAUSE])
    print(f'{given.output}: {len(others) + 1} pictures, {given.output.stat().st_size:,} bytes')
    return 0


if __name__ == '__main__':
    sys.exit(main())
