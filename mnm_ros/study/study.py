# SPDX-License-Identifier: Apache-2.0

"""Several methods in several worlds, with several bases and seeds: one call and one picture."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from os import PathLike
import pickle
from statistics import mean
from typing import Any, Union

from mnm_ros.core.errors import how_to_install, InvalidValueError
from mnm_ros.core.knowledge.knowledge import NO_ONE_NUMBER
from mnm_ros.core.mnm.options import Value
from mnm_ros.export.libraries import data_frame, library
from mnm_ros.simulation.scenario import load, Scenario
from mnm_ros.study.course import Course, Curve, curve
from mnm_ros.study.methods import Experiment, explore, METHODS
from mnm_ros.study.processes import completed

LABELS = {'mnm': 'MNM', 'once': 'begun once', 'oracle': 'begun anew by an oracle',
          'schedule': 'begun anew on a schedule'}
_STYLES = ('-', '--', ':', '-.')    # of bases
_POINTS = 200                       # of a curve


@dataclass(frozen=True)
class Study:
    """
    The results of many explorations; made by ``run_study``.

    ``print`` shows a table with a row for each world, method and base, and means over the seeds:

    - ``first``: steps until the first hypothesis;
    - ``known``: states known at the end, from the fewest to the most of a seed;
    - ``setting 0`` and on: exploration steps, see ``Course``, in that setting of the world;
    - ``total``: exploration steps in all;
    - ``wrong at the end``: how many seeds have a hypothesis then that is not good enough.

    :ivar courses: of each exploration.
    """

    courses: tuple[Course, ...]

    def of(self, world: str, method: str = 'mnm', base: str | None = None) -> tuple[Course, ...]:
        """
        Return the courses of one method in one world, by seed.

        :param base: None for the only one, or the first.
        :raises InvalidValueError: if there are none.
        """
        wanted = world, method, self.courses[0].base if base is None else base
        found = tuple(each for each in self.courses
                      if (each.world, each.method, each.base) == wanted)
        if not found:
            made = dict.fromkeys(f'{each.method} with {each.base} in {each.world}'
                                 for each in self.courses)
            raise InvalidValueError(
                f'{wanted[1]} with {wanted[2]} in {world} is not in this study, expected one of: '
                f'{", ".join(made)}')
        return found

    def curve(self, world: str, method: str = 'mnm', base: str | None = None,
              share: float = 0.8) -> Curve:
        """
        Return the exploration steps of one method in one world over the steps.

        :param share: of the seeds that the band holds.
        """
        if not 0 <= share <= 1:
            raise InvalidValueError(f'share is {share!r}, expected a number in [0, 1]')
        return curve(self.of(world, method, base), share, _POINTS)

    def to_dataframe(self) -> Any:
        """
        Return a ``pandas.DataFrame`` with a row for each exploration.

        :raises ExportError: if pandas is not installed.
        """
        names = ('world', 'method', 'base', 'seed', 'steps', 'first', 'known', 'total',
                 'right_at_the_end')
        return data_frame({name: [getattr(course, name) for course in self.courses]
                           for name in names})

    def plot(self, path: Union[str, PathLike[str], None] = None, share: float = 0.8) -> Any:
        """
        Draw the curves of all side by side, world by world, and return matplotlib's ``Figure``.

        :param path: to write it to; None for ``pyplot.show``.
        :param share: of the seeds that a band holds.
        :raises ExportError: if matplotlib is not installed.
        """
        how = how_to_install('study', 'apt install python3-matplotlib')
        pyplot = library('matplotlib.pyplot', how)
        colour = pyplot.rcParams['axes.prop_cycle'].by_key()['color']
        worlds, methods, bases = self._distinct
        figure, plots = pyplot.subplots(
            1, len(worlds), squeeze=False, figsize=(4.2 * len(worlds) + 1.6, 3.4),
            constrained_layout=True)
        for axes, world in zip(plots[0], worlds):
            for (row, base), (column, method) in product(enumerate(bases), enumerate(methods)):
                found = self.curve(world, method, base, share)
                ink = colour[column % len(colour)]
                axes.plot(found.steps, found.mean, _STYLES[row % len(_STYLES)], color=ink,
                          label=LABELS[method] + (f', {base}' if len(bases) > 1 else ''))
                axes.fill_between(found.steps, found.low, found.high, color=ink, alpha=0.15,
                                  linewidth=0)
            for end in self.of(world, methods[0], bases[0])[0].ends[:-1]:
                axes.axvline(end, color='black', linestyle=':', linewidth=1)
            axes.set(title=world, xlabel='steps', xlim=(0, None), ylim=(0, None))
        plots[0, 0].set_ylabel('exploration steps')
        plots[0, -1].legend(fontsize='small', frameon=False, loc='center left',
                            bbox_to_anchor=(1, 0.5))
        if path is not None:
            figure.savefig(path, dpi=130)
            pyplot.close(figure)
        return figure

    @property
    def _distinct(self) -> tuple[list[str], list[str], list[str]]:
        """Return the worlds, the methods and the bases, each once, as they came."""
        return tuple([*dict.fromkeys(getattr(course, name) for course in self.courses)]
                     for name in ('world', 'method', 'base'))    # type: ignore[return-value]

    def __str__(self) -> str:
        worlds, methods, bases = self._distinct
        names, by_base = max(map(len, worlds)), max(map(len, bases))
        settings = max(len(course.ends) for course in self.courses)
        head = ''.join(f'{f"setting {number}":>11}' for number in range(settings))
        lines = [f'{"world":<{names}}  {"method":<8}  {"base":<{by_base}} {"seeds":>5} '
                 f'{"first":>8} {"known":>7}{head} {"total":>9}  wrong at the end']
        for world, base, method in product(worlds, bases, methods):
            found = self.of(world, method, base)
            firsts = [course.first for course in found if course.first is not None]
            parts = ''.join(f'{mean(each):>11,.0f}'
                            for each in zip(*(course.by_setting for course in found)))
            lines.append(
                f'{world:<{names}}  {method:<8}  {base:<{by_base}} {len(found):>5} '
                f'{f"{mean(firsts):,.0f}" if firsts else "never":>8} {_range(found):>7}'
                f'{parts:<{11 * settings}} {mean(course.total for course in found):>9,.0f}  '
                f'{sum(not course.right_at_the_end for course in found)} of {len(found)}')
        return '\n'.join([*lines, *self._why_numbers_differ()])

    def _why_numbers_differ(self) -> list[str]:
        """Return a sentence if several numbers of known states are right in one world."""
        right: dict[str, set[int]] = {}
        for course in self.courses:
            if course.right_at_the_end:
                right.setdefault(course.world, set()).add(course.known)
        return [NO_ONE_NUMBER] if any(len(found) > 1 for found in right.values()) else []


def _range(courses: Sequence[Course]) -> str:
    """Return how many states were known at the end, from the fewest to the most."""
    known = sorted({course.known for course in courses})
    return f'{known[0]}' if len(known) == 1 else f'{known[0]}-{known[-1]}'


def run_study(worlds: Iterable[Union[Scenario, str]], bases: Iterable[str] = ('',),
              seeds: Iterable[int] = range(5), jobs: int = 1, *,
              methods: Iterable[str] = tuple(METHODS), radius: float = 4.0, epsilon: float = 1.0,
              delta: float = 0.1, preset: str = 'onboard',
              overrides: Mapping[str, Value] | None = None, tail: int = 10_000,
              period: int = 10_000) -> Study:
    """
    Explore each world by each method with each base and each seed, in simulation.

    The methods are ``mnm``; and the base alone, started ``once``, again at each change that
    an ``oracle`` reports, or again on a ``schedule``.

    :param worlds: scenarios, or their names or files; they change by their ``until``.
    :param bases: of ``disco``, ``ucb_explore`` or others; '' for that of the preset.
    :param seeds: of which each gives the same course again.
    :param jobs: processes; 1 is this one itself. Where they are several, a script has to call this
        below ``if __name__ == '__main__':``, as they import it.
    :param preset, overrides: as for ``settings``.
    :param tail: steps after the last change, or in all if nothing changes.
    :param period: steps from one beginning to the next on the schedule; a run that takes more
        never ends.
    :raises InvalidValueError: says what is not allowed.
    """
    scenarios = [world if isinstance(world, Scenario) else load(world) for world in worlds]
    axes: dict[str, list[Any]] = {
        'worlds': [world.path.stem for world in scenarios], 'bases': [*bases],
        'seeds': [*seeds], 'methods': [*methods]}
    for name, values in axes.items():
        if not values or len({*values}) < len(values):
            raise InvalidValueError(f'{name} are {values}, expected one or more, each once')
    for method in axes['methods']:
        if method not in METHODS:
            raise InvalidValueError(
                f'method is {method!r}, expected one of {", ".join(METHODS)}')
    for name, value, least in (('jobs', jobs, 1), ('tail', tail, 1), ('period', period, 1),
                               ('seeds', min(axes['seeds']), 0)):
        if value < least:
            raise InvalidValueError(f'{name} is {value!r}, expected at least {least}')
    trials = product(scenarios, axes['bases'], axes['methods'], axes['seeds'])
    experiments = [Experiment(world, method, base, seed, radius, epsilon, delta, preset,
                              tuple((overrides or {}).items()), tail, period)
                   for world, base, method, seed in trials]
    for experiment in experiments:
        _check(experiment, jobs)
    courses = dict(completed(explore, experiments, min(jobs, len(experiments))))
    return Study(tuple(courses[number] for number in range(len(experiments))))


def _check(experiment: Experiment, jobs: int) -> None:
    """Refuse what would fail only later; the settings are resolved for that."""
    lacking = [number for number, setting in enumerate(experiment.world.settings[:-1])
               if setting.until is None]
    if lacking:
        raise InvalidValueError(
            f'{experiment.world.path.stem}: setting {lacking[0]} has no until, expected the steps '
            'after which it is over')
    assert experiment.settings
    if jobs > 1:
        try:
            pickle.dumps(experiment)
        except Exception as error:
            raise InvalidValueError(
                f'{experiment.world.path.stem} cannot be sent to other processes ({error}), '
                'expected jobs=1') from error
