# SPDX-License-Identifier: Apache-2.0

"""
Draws an exploration as a moving picture, docs/figures/exploration.gif.

A flat with a map is explored, a door closes, and the robot finds a way round. Nothing in it is
staged but the moment at which the door closes: some time after the first hypothesis. To explore
and draw takes some minutes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
import sys
import textwrap

from arguments import Arguments
from hours import FLAT, SLIP
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from mnm_ros.core import Exploration, Problem, settings
from mnm_ros.core.model.support import Support
from mnm_ros.core.progress.events import Event, ways
from mnm_ros.core.progress.trust import Trust
from mnm_ros.robot_description import RobotDescription
from mnm_ros.simulation.cmp import described, grid_cmp, GRID_MOVES, support
from mnm_ros.simulation.ground_truth import ExplorationSteps
from mnm_ros.simulation.scenario import Scenario, Setting
from mnm_ros.simulation.simulator import Simulator
from mnm_ros.view.event_words import told
import numpy as np
from PIL import Image

ROOT = Path(__file__).resolve().parents[1]
ACTIONS = tuple(GRID_MOVES)
INK = '#22303a'
COLORS = {'never seen': '#e6eaed', 'assumed, by the map': '#d3dfe9', 'certified': '#a5d6ba',
          'proven': '#5fb487', 'doubted': '#f0a35e', 'lost': '#e3a7a9'}
ROUTE, CHANGE = '#1d6b46', '#b3383c'
DOOR = (5, 4)          # row and column
DOOR_NAME = 'to the east'
RADIUS = 12.0
CALM = 300             # steps between the first hypothesis and the change, and at the end
HINT = 60              # steps for which a hint is shown
CLOSE = 100            # steps after the start and the change of which more is shown
COLORS_IN_FILE = 48    # enough for the few of the picture and the edges of its letters
PICTURE, PAUSE = 100, 3000    # ms, of a picture and of the last one


@dataclass(frozen=True)
class Frame:
    """
    What is to be seen after some steps.

    :ivar kinds: of states, by their colours; others were never seen.
    :ivar routes: of the policies that can be relied on.
    :ivar change: when the door closed; None before.
    """

    steps: int
    robot: int
    home: int
    kinds: dict[int, str]
    routes: dict[int, tuple[int, ...]]
    sentence: str
    change: int | None


def world(closed: bool = False) -> tuple[str, ...]:
    """Return the rows of the flat."""
    rows = [[*row] for row in FLAT]
    if closed:
        rows[DOOR[0]][DOOR[1]] = '#'
    return tuple(map(''.join, rows))


def record(stride: int, seed: int, most: int = 20_000) -> Iterator[Frame]:
    """Explore until all has been relearnt, and yield what is seen every ``stride`` steps."""
    cmps = [grid_cmp(world(closed), SLIP, ACTIONS) for closed in (False, True)]
    scenario = Scenario('flat', ACTIONS, cmps[0].start, tuple(
        Setting(cmp, None) for cmp in cmps), Path())
    robot, truth = Simulator(scenario, seed), ExplorationSteps(scenario, RADIUS, 1.0)
    exploration = Exploration(settings(Problem(
        len(ACTIONS), RADIUS, 1.0, 0.1, Support(support(cmps[0])))), seed)
    first = change = None
    calm = 0
    while robot.steps < most:
        action = exploration.next_action()
        exploration.observe(action, robot.step(action))
        if first is None and exploration.hypothesis:
            first = robot.steps
        if first and change is None and robot.steps == first + CALM:
            robot.change()
            change = robot.steps
        since = robot.steps - (change or 0)
        often = 5 if since < CLOSE else 1 if since < 15 * CLOSE or first is None else 0.5
        if robot.steps % max(1, round(stride / often)) == 0:
            yield _frame(exploration, robot, change)
        right = change and truth.verdict(robot.setting, exploration.hypothesis).ok
        calm = calm + 1 if right else 0
        if calm == CALM:
            return


def _frame(exploration: Exploration, robot: Simulator, change: int | None) -> Frame:
    trust = {each.policy.target: each for each in exploration.trust()}
    counts = exploration.counts
    found = ways(tuple(each.policy for each in trust.values()),
                 lambda *pair: counts.get(pair, {}))
    relied = {Trust.PROVEN: 'proven', Trust.CERTIFIED: 'certified'}
    kinds = {state: relied.get(each.trust, 'doubted' if each.trust is Trust.DOUBTED
                               else 'assumed, by the map') for state, each in trust.items()}
    assert exploration.home is not None
    return Frame(
        robot.steps, robot.state, exploration.home,
        {**kinds, **dict.fromkeys(exploration.lost, 'lost')},
        {state: (*(passed for passed, _ in found[state]), state) for state, each in trust.items()
         if each.trust in relied}, told(_shown(exploration), _flat_of(exploration.home),
                                        plain=True), change)


def _shown(exploration: Exploration) -> Event:
    """Return what has happened last, or a hint a little before, which is worth to be seen."""
    return next((event for event in exploration.events
                 if event.kind == 'hint' and event.step > exploration.steps - HINT),
                exploration.events[-1])


def _flat_of(home: int) -> RobotDescription:
    """Return the names of cells, of moves and of the door."""
    row, column = DOOR
    state = row * len(FLAT[0]) + column
    return replace(described(ACTIONS, home, world()), doors={DOOR_NAME: (
        (state - 1, ACTIONS.index('east')), (state + 1, ACTIONS.index('west')))})


def draw(frames: Sequence[Frame]) -> list[Image.Image]:
    """Return a picture of each frame, all in the same few colours."""
    pictures = [_picture(frames[:number + 1], frames[-1].steps) for number in range(len(frames))]
    # Taken from pictures from beginning to end, as no single one shows much of every colour.
    some = [np.asarray(picture) for picture in pictures[::max(1, len(pictures) // 10)]]
    palette = Image.fromarray(np.vstack(some)).quantize(COLORS_IN_FILE, dither=Image.Dither.NONE)
    return [picture.quantize(palette=palette, dither=Image.Dither.NONE) for picture in pictures]


def _picture(frames: Sequence[Frame], steps: int) -> Image.Image:
    frame = frames[-1]
    figure = Figure(figsize=(7.2, 4.1), dpi=90, facecolor='white')
    canvas = FigureCanvasAgg(figure)
    _flat(figure.add_axes((0.01, 0.2, 0.6, 0.78)), frame)
    _curve(figure.add_axes((0.68, 0.31, 0.29, 0.58)), frames, steps)
    for number, (name, color) in enumerate(COLORS.items()):
        x = 0.03 + (0, 0.15, 0.385, 0.515, 0.63, 0.75)[number]
        figure.patches.append(Rectangle((x, 0.115), 0.018, 0.034, facecolor=color, edgecolor=INK,
                                        linewidth=0.5, transform=figure.transFigure))
        figure.text(x + 0.025, 0.131, name, va='center', fontsize=9, color=INK)
    words = f'step {frame.steps:,}: {frame.sentence}'
    figure.text(0.03, 0.05, textwrap.shorten(words, 105), va='center', fontsize=10, color=INK)
    canvas.draw()
    return Image.fromarray(np.asarray(canvas.buffer_rgba())).convert('RGB')


def _flat(axes: Axes, frame: Frame) -> None:
    places = _flat_of(frame.home).positions
    for state, (x, y) in places.items():
        axes.add_patch(Rectangle((x - 0.5, y - 0.5), 1, 1, edgecolor='white', linewidth=1.5,
                                 facecolor=COLORS[frame.kinds.get(state, 'never seen')]))
    for route in frame.routes.values():
        way = [places[state] for state in route]
        for start, end in pairwise(way):
            axes.annotate('', end, start, arrowprops={
                'arrowstyle': '-|>', 'color': ROUTE, 'linewidth': 1, 'shrinkA': 4, 'shrinkB': 7})
    width, height = len(FLAT[0]), len(FLAT)
    for row, line in enumerate(FLAT):
        for column, letter in enumerate(line):
            if letter == '#':
                axes.add_patch(Rectangle((column, height - 1 - row), 1, 1, color=INK))
    if frame.change is not None:
        x, y = DOOR[1] + 0.5, height - 1 - DOOR[0]
        axes.plot((x, x), (y, y + 1), color=CHANGE, linewidth=5)
    x, y = places[frame.home]
    axes.text(x - 0.44, y + 0.42, 'home', fontsize=8, color=INK, va='top')
    axes.plot(*places[frame.robot], 'o', color=CHANGE, markersize=9, markeredgecolor='white')
    axes.set_xlim(-0.1, width + 0.1)
    axes.set_ylim(-0.1, height + 0.1)
    axes.set_aspect('equal')
    axes.set_axis_off()


def _curve(axes: Axes, frames: Sequence[Frame], steps: int) -> None:
    axes.plot([frame.steps for frame in frames], [len(frame.routes) for frame in frames],
              color=ROUTE, linewidth=2, drawstyle='steps-post')
    if frames[-1].change is not None:
        axes.axvline(frames[-1].change, color=CHANGE, linestyle='--', linewidth=1)
        axes.text(frames[-1].change, 60, ' the door closes', fontsize=8, color=CHANGE, va='top')
    axes.set_xlim(0, steps)
    axes.set_ylim(0, 61)
    axes.set_yticks((0, 20, 40))
    axes.set_xticks(range(0, steps, 2000))
    axes.tick_params(labelsize=8, colors=INK)
    axes.set_xlabel('steps', fontsize=9, color=INK)
    axes.set_title('places to rely on', fontsize=10, color=INK, loc='left')
    for side in ('top', 'right'):
        axes.spines[side].set_visible(False)


def main(arguments: Sequence[str] | None = None) -> int:
    """Explore, draw and save."""
    parser = Arguments(__doc__)
    parser.add_argument(
        '--output', type=Path, default=ROOT / 'docs' / 'figures' / 'exploration.gif',
        metavar='FILE', help='where to write the picture (default docs/figures/exploration.gif)')
    parser.number('stride', 20, 'steps between two pictures; fewer where much happens')
    parser.number('seed', 3, 'of the robot and the explorer')
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
