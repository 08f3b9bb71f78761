# SPDX-License-Identifier: Apache-2.0

"""The command lines of the benchmarks: what several of them can be given is declared here once."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from importlib.util import find_spec
import os
from pathlib import Path
import sys
from typing import Any, TypeVar

from batch import Engine
from code_version import ROOT
from mnm_ros.core.components import BASES
from mnm_ros.core.model.problem import Problem
from mnm_ros.core.presets import settings

Made = TypeVar('Made')


class Arguments(argparse.ArgumentParser):
    """
    The arguments of one benchmark, whose docstring is its description.

    Whatever is not allowed ends the program with exit status 2.
    """

    def __init__(self, doc: str | None, **more: Any) -> None:
        super().__init__(prog=f'benchmarks/{Path(sys.argv[0]).stem}',
                         description=(doc or '').strip(),
                         formatter_class=argparse.RawDescriptionHelpFormatter, **more)
        self._least: dict[str, int] = {}
        self._seeds = ''

    def number(self, name: str, default: float, what: str = '', *, least: int | None = None,
               **more: Any) -> None:
        """Add ``--NAME``, a number of the type of its default."""
        told = f'{default:g}' if isinstance(default, float) else f'{default}'
        self.add_argument(f'--{name}', type=type(default), default=default,
                          help=f'{what} (default {told})' if what else f'default {told}', **more)
        if least is not None:
            self._least[name] = least

    def base(self, **more: Any) -> None:
        """Add ``--base``; '' is the base of the preset."""
        self.add_argument(
            '--base', metavar='NAME', **{'default': '', **more},
            help=f'{", ".join(BASES)}, or module:factory (default the one of the preset)')

    def seeds(self, default: int, what: str, first: int = 0, name: str = 'seeds') -> None:
        """Add ``--seeds`` and ``--first-seed``; ``seeds`` becomes the range of them."""
        self._seeds = name
        self.number(name, default, what, least=1)
        self.number('first-seed', first, 'seeds count up from it', least=0)

    def trials(self, output: str = 'trial') -> None:
        """Add ``--jobs``, ``--cluster`` and ``--output``, of which ``engine`` is made."""
        add = self.add_argument
        add('--jobs', type=int, default=len(os.sched_getaffinity(0)),
            help='parallel processes (default: the cores there are)')
        add('--cluster', default='', metavar='ADDRESS',
            help='of a Dask scheduler whose workers run the trials, for instance '
                 'tcp://head:8786; local: one of its own, with as many workers as --jobs')
        add('--output', type=Path, metavar='CSV',
            help=f'write a line for each {output}; what is in it already is not done again')
        self._least['jobs'] = 1
        self.epilog = ('On a terminal, a bar shows how many trials are made, and how long the '
                       'others will take.')

    def read(self, words: Sequence[str] | None = None) -> argparse.Namespace:
        """Return what is given."""
        given = self.parse_args(words)
        for name, least in self._least.items():
            value = getattr(given, name.replace('-', '_'))
            if value < least:
                self.error(f'--{name} is {value:g}, expected at least {least}')
        bases = getattr(given, 'base', '')
        for base in [bases] if isinstance(bases, str) else bases:
            self.checked(lambda: settings(Problem(1, 4.0, 1.0, 0.1), overrides={
                'base': base}))    # noqa: B023
        if self._seeds:
            first = given.first_seed
            setattr(given, self._seeds, range(first, first + getattr(given, self._seeds)))
        if 'cluster' in given:
            given.engine = self._engine(given)
        return given

    def checked(self, make: Callable[[], Made]) -> Made:
        """Return what is made of the arguments, which a ValueError refuses."""
        try:
            return make()
        except ValueError as error:
            self.error(str(error))

    def _engine(self, given: argparse.Namespace) -> Engine:
        if given.cluster and not _installed('distributed'):
            self.exit(2, f'{self.prog}: --cluster needs Dask, the extra "cluster": '
                         f'{sys.executable} -m pip install "{ROOT}[cluster]"\n')
        return Engine(given.jobs, given.cluster)


def _installed(module: str) -> bool:
    return find_spec(module) is not None
