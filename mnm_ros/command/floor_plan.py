# SPDX-License-Identifier: Apache-2.0

"""The output of ``mnm_ros map --cells``: a plan, its picture and parameters."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
import json
from pathlib import Path
import re

from mnm_ros.command.map_files import findings_told, lines_told, refuse_existing, specks_told
from mnm_ros.command.plan_forecast import forecast
from mnm_ros.files import config_file, write_whole
from mnm_ros.language import ENGLISH, Phrase, text_in
from mnm_ros.plan.findings import findings
from mnm_ros.plan.floor_plan import Plan
from mnm_ros.plan.nav2_map import save_mask
from mnm_ros.plan.picture import svg
from mnm_ros.plan.plan_file import load, text_of
from mnm_ros.plan.plan_maker import degrees, MadePlan, make
from mnm_ros.plan.request import Request, Wishes


def write(request: Request, output: Path, wishes: Wishes,
          overwrite: bool) -> tuple[Plan, bool]:
    """
    Make a plan, write it with its picture and parameters, and print what was decided.

    :param overwrite: whether files that are there may be replaced.
    :return: the plan, and whether nothing could be explored by it.
    :raises InvalidValueError: if it cannot be made, or a file is there.
    """
    refuse_existing((output, output.with_name('turtlebot.yaml')), wishes.mask, overwrite)
    made = make(request)
    for line in _told(made):
        print(line)
    return _shown(made.plan, wishes, written(made.plan, output, request.map_file.name, wishes))


def check(path: Path, wishes: Wishes) -> tuple[Plan, bool]:
    """Print what is wrong with a plan, and draw it; the arguments and result are as above."""
    plan = load(path)
    return _shown(plan, wishes, _drawn(plan, path, wishes))


def written(plan: Plan, output: Path, source: str, wishes: Wishes) -> list[Phrase]:
    """
    Write a plan, and its picture and parameters beside it; return what was written where.

    :param source: what it was made of.
    :raises FileError: if the plan could not be read again.
    :raises OSError: if a file cannot be written.
    """
    parameters = output.with_name('turtlebot.yaml')
    write_whole(output, text_of(plan, source).encode())
    write_whole(parameters, _parameters(plan, output, wishes.radius).encode())
    return [Phrase.of('files.plan', file=str(output)),
            Phrase.of('files.parameters', file=str(parameters)), *_drawn(plan, output, wishes)]


def _drawn(plan: Plan, path: Path, wishes: Wishes) -> list[Phrase]:
    picture, mask = path.with_suffix('.svg'), wishes.mask
    write_whole(picture, svg(plan, findings(plan)).encode())
    if mask is not None:
        save_mask(mask, plan.map, plan.kept_out)
    return [Phrase.of('files.picture', file=str(picture)),
            *([Phrase.of('files.mask', file=str(mask))] if mask is not None else [])]


def _shown(plan: Plan, wishes: Wishes, files: Iterable[Phrase]) -> tuple[Plan, bool]:
    wrong = findings(plan)
    for line in (*_summary(plan), *findings_told(wrong), *forecast(plan, wishes),
                 *(text_in(ENGLISH, each) for each in files)):
        print(line, flush=True)
    return plan, any(finding.fatal for finding in wrong)


def _told(made: MadePlan) -> Iterator[str]:
    """Yield what was decided."""
    yield from made.said
    yield from specks_told(made.specks)
    grid = made.plan.grid
    worst, median, best = made.counts
    yield (f'grid: {grid.columns} x {grid.rows} cells of {grid.cell_size:g} m, turned by '
           f'{degrees(grid.yaw):g} degrees; origin {grid.origin_x:g}, {grid.origin_y:g}')
    yield (f'cells within reach by the choice of the origin: {worst} to {best}, the median is '
           f'{median}')
    if made.better_home:
        (x, y), count = made.better_home
        yield f'{count} cells would be within reach with --home {x:g} {y:g}'


def _summary(plan: Plan) -> Iterator[str]:
    yield (f'{len(plan.reached)} places within reach of home, which is in '
           f'{plan.cell_names.get(-1 if plan.home_cell is None else plan.home_cell, "no cell")}')
    if plan.rooms:
        yield f'rooms: {", ".join(plan.rooms)}'
    yield from lines_told(plan)


def _parameters(plan: Plan, path: Path, radius: float) -> str:
    """Return the parameters of a TurtleBot with the plan in place of a grid and a map, and L."""
    text = config_file('turtlebot3.yaml').read_text(encoding='utf-8')
    head, _, text = text.partition('\n\n')
    text = re.sub(r'    robot_radius: .*; .*\n', '', text)    # that of the plan
    text = re.sub(r'robot_radius: [\d.]+ .*', f'robot_radius: {plan.robot_radius:g}    # m', text)
    text = re.sub(r'    radius: [\d.]+', f'    radius: {float(radius)!r}', text)
    said = f'    plan: {json.dumps(str(path.absolute()), ensure_ascii=False)}'
    text = re.sub(r'    use_map: .*\n',
                  lambda _: f'{said}    # in place of a map, a grid and home\n', text)
    text = re.sub(r'\n    # The flat: yours\n(    .*\n)+', '', text)
    text = re.sub(r'(/\*\*/diff_drive_sim:\n  ros__parameters:\n)',
                  lambda found: f'{found[1]}{said}\n', text)
    return (f'# A TurtleBot 3 Burger in {plan.name}, as docs/howto/turtlebot.md uses it. Comments '
            f'say what another\n# TurtleBot needs.\n\n{text}')
