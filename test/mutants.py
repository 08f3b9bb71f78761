# SPDX-License-Identifier: Apache-2.0

"""
Change single points of the code and see whether a test notices: ``scripts/mutants --help``.

The mutants are those of cosmic-ray, or with ``--promises`` those of ``promises.py``. They are made
in a copy of the tree, one after the other, and for each only the tests of its room run, the
likeliest and quickest first.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
import importlib.util
import os
from pathlib import Path
import random
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from typing import TYPE_CHECKING

from promises import Promise, PROMISES

if TYPE_CHECKING:
    from cosmic_ray.work_item import MutationSpec

ROOT = Path(__file__).resolve().parents[1]

TESTS = {
    'mnm_ros/checkpoint': 'test/checkpoint',
    'mnm_ros/core': 'test/core',
    'mnm_ros/core/task/navigation.py': 'test/core/test_navigation.py',
    'mnm_ros/core/mnm/options.py': 'test/core test/test_reference.py',
    'mnm_ros/driving': 'test/driving',
    'mnm_ros/export': 'test/export',
    'mnm_ros/nodes/common/allowance.py': 'test/nodes/test_allowance.py',
    'mnm_ros/nodes/exploring/output/repeats.py': 'test/nodes/test_repeats.py',
    'mnm_ros/nodes/exploring/unseen_work.py': 'test/nodes/test_unseen_work.py',
    'mnm_ros/parameters': (
        'test/test_parameters.py test/test_params_file.py test/test_config.py '
        'test/test_reference.py'),
    'mnm_ros/protocol': 'test/protocol',
    'mnm_ros/description_entries.py': 'test/test_robot_description.py',
    'mnm_ros/robot_description.py': 'test/test_robot_description.py',
    'mnm_ros/simulation': 'test/simulation --ignore test/simulation/test_large_files.py',
    'mnm_ros/study': 'test/study',
    'mnm_ros/trial': 'test/trial',
    'mnm_ros/view': 'test/dashboard test/test_telemetry_parts.py test/test_layout.py',
    'mnm_ros/messages': 'test/test_messages.py',
}
"""What has quick tests without nodes, and which; of several that fit, the longest counts."""

UNTOUCHED = 'BitOr'
"""Nearly every ``|`` of this package stands in a type hint, which nobody evaluates."""

QUICK = 3.0
"""What test modules take at most, in s, to be tried before the others."""


def tests_of(module: str) -> str | None:
    """Return the tests of a module, given by its path in the tree; None without any."""
    fitting = [path for path in TESTS if f'{module}/'.startswith(f'{path}/')]
    return TESTS[max(fitting, key=len)] if fitting else None


def files_of(tests: str) -> list[str]:
    """Return the test modules that arguments of pytest stand for, without those ignored."""
    paths, ignored = [], []
    words = iter(tests.split())
    for word in words:
        if word == '--ignore':
            ignored.append(next(words))
        elif word.endswith('.py'):
            paths.append(word)
        else:
            paths += sorted(path.relative_to(ROOT).as_posix()
                            for path in (ROOT / word).rglob('test_*.py'))
    return [path for path in paths if path not in ignored]


def stages(module: str, durations: Mapping[str, float]) -> list[list[str]]:
    """
    Return the test modules in groups to be run one after the other, until a test fails.

    First come those that import the module, as they notice most, then what is quick. So nearly
    every mutant is noticed within seconds, also one that never ends.
    """
    imported = f'from {module.removesuffix(".py").replace("/", ".")} import'
    order = sorted(durations, key=lambda path: durations[path])
    own = [path for path in order if imported in Path(path).read_text(encoding='utf-8')]
    others = [path for path in order if path not in own]
    groups = [own, [path for path in others if durations[path] < QUICK],
              [path for path in others if durations[path] >= QUICK]]
    return [group for group in groups if group]


def modules(root: Path, wanted: Sequence[str]) -> list[Path]:
    """
    Return the modules of a tree that are in folders or are named.

    :raises SystemExit: if there are none, or if one has no tests.
    """
    found = sorted({path for name in wanted for path in (
        [root / name] if name.endswith('.py') else (root / name).rglob('*.py'))})
    names = [path.relative_to(root).as_posix() for path in found]
    bad = [name for name in names if not (root / name).is_file() or not tests_of(name)]
    if bad or not found:
        raise SystemExit(f'{", ".join(bad or wanted)}: no module with tests in TESTS '
                         f'({Path(__file__).name})')
    return found


def mutants(paths: Sequence[Path], sample: int, seed: int) -> list[MutationSpec]:
    """Return mutants at so many points of the code, one for each; at all if there are fewer."""
    from cosmic_ray.commands import init
    from cosmic_ray.work_db import use_db, WorkDB
    points: dict[tuple[Path, tuple[int, int]], list[MutationSpec]] = {}
    with tempfile.TemporaryDirectory() as folder:
        with use_db(f'{folder}/session.sqlite', WorkDB.Mode.create) as session:
            init(paths, session, {})
            for item in session.work_items:
                mutant, = item.mutations
                if UNTOUCHED not in mutant.operator_name:
                    points.setdefault((mutant.module_path, mutant.start_pos), []).append(mutant)
    rng = random.Random(seed)
    chosen = sorted(rng.sample(sorted(points), min(sample, len(points))))
    return [rng.choice(sorted(points[point], key=lambda mutant: mutant.operator_name))
            for point in chosen]


def survives(mutant: MutationSpec, name: str, durations: Mapping[str, float]) -> str:
    """Return the difference that no test notices; empty if one does."""
    from cosmic_ray.mutating import mutate_and_test
    from cosmic_ray.work_item import TestOutcome
    difference = ''
    for group in stages(name, durations):
        timeout = 10.0 + 3 * sum(durations[path] for path in group)
        result = mutate_and_test([mutant], command(*group), timeout)
        if result.test_outcome is not TestOutcome.SURVIVED:
            return ''
        difference = result.diff
    return difference


def command(*tests: str) -> str:
    return (f'{shlex.quote(sys.executable)} -m pytest -x -q -p no:cacheprovider --quick '
            f'{" ".join(tests)}')


def baseline(tests: str) -> float:
    """
    Run tests without a mutant and return how long they take in s.

    :raises SystemExit: if they fail.
    """
    from cosmic_ray.testing import run_tests
    from cosmic_ray.work_item import TestOutcome
    began = time.monotonic()
    outcome, output = run_tests(command(tests), 600.0)
    if outcome is not TestOutcome.SURVIVED:
        raise SystemExit(f'{output}\n{tests}: fails without a mutant')
    return time.monotonic() - began


def run(root: Path, wanted: Sequence[str], sample: int, seed: int) -> int:
    """Try mutants in a tree that may be changed; return how many survive."""
    chosen = mutants(modules(root, wanted), sample, seed)
    durations: dict[str, float] = {}
    survivors = 0
    for number, mutant in enumerate(chosen, 1):
        name = mutant.module_path.relative_to(root).as_posix()
        files = files_of(tests_of(name) or '')
        durations.update({path: baseline(path) for path in files if path not in durations})
        difference = survives(mutant, name, {path: durations[path] for path in files})
        survivors += bool(difference)
        print(f'{number}/{len(chosen)} {"SURVIVED" if difference else "killed"} {name}, '
              f'line {mutant.start_pos[0]}: {mutant.operator_name.removeprefix("core/")}')
        if difference:
            print(difference.replace(f'{root}/', ''))
        sys.stdout.flush()
    print(f'{len(chosen) - survivors} of {len(chosen)} killed')
    return survivors


def is_noticed(root: Path, promise: Promise) -> bool:
    """
    Break a promise in a tree that may be changed; return whether a test fails.

    :raises SystemExit: if the code is not there once, or if no test can be run with the mutant.
    """
    path = root / 'mnm_ros' / promise.module
    text = path.read_text(encoding='utf-8')
    if text.count(promise.code) != 1:
        raise SystemExit(f'{promise.module} has {promise.code!r} {text.count(promise.code)} times,'
                         ' expected once')
    _write(path, text.replace(promise.code, promise.mutant))
    try:
        status, output = tested(root, promise.tests)
    finally:
        _write(path, text)
    if status > 1:    # below 0: the tests have crashed, which is noticed, too
        raise SystemExit(f'{output}\n{promise.promise}: no test can be run with the mutant')
    return status != 0


def _write(module: Path, text: str) -> None:
    """Change a module whose bytecode would count as new if size and second are the same."""
    module.write_text(text, encoding='utf-8')
    Path(importlib.util.cache_from_source(str(module))).unlink(missing_ok=True)


def tested(root: Path, tests: str) -> tuple[int, str]:
    """Run quick tests of a tree; return the exit status of pytest and what it has printed."""
    done = subprocess.run(
        [sys.executable, '-m', 'pytest', '-x', '-q', '-p', 'no:cacheprovider', '--quick',
         *(f'test/{path}' for path in tests.split())], cwd=root, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, text=True, timeout=600)
    return done.returncode, done.stdout


def break_promises(root: Path, promises: Sequence[Promise]) -> int:
    """Break promises one after the other, in a tree that may be changed; return how many hold."""
    survivors = 0
    for tests in dict.fromkeys(promise.tests for promise in promises):
        status, output = tested(root, tests)
        if status:
            raise SystemExit(f'{output}\n{tests}: fails without a mutant')
    for number, promise in enumerate(promises, 1):
        noticed = is_noticed(root, promise)
        survivors += not noticed
        print(f'{number}/{len(promises)} {"killed" if noticed else "SURVIVED"} {promise.module}: '
              f'{promise.promise}', flush=True)
    print(f'{len(promises) - survivors} of {len(promises)} killed')
    return survivors


def main(arguments: Sequence[str] | None = None) -> int:
    """Try mutants and return the exit status: 1 if one survives."""
    parser = argparse.ArgumentParser(
        prog='scripts/mutants', description='Change single points of the code, in a copy, and '
        'report the changes that no test notices.')
    parser.add_argument('modules', nargs='*', default=[*TESTS], metavar='MODULE',
                        help='paths of modules or folders; default: all that have quick tests')
    parser.add_argument('--sample', type=int, default=60, help='points to change (60)')
    parser.add_argument('--seed', type=int, default=0, help='of the sample (0)')
    parser.add_argument('--promises', action='store_true',
                        help='the mutants of test/promises.py instead, of MODULEs alone if given')
    parsed = parser.parse_args(arguments)
    if not parsed.promises and not importlib.util.find_spec('cosmic_ray'):
        parser.error(f'needs cosmic-ray: {sys.executable} -m pip install "{ROOT}[mutants]"')
    with tempfile.TemporaryDirectory(prefix='mutants_') as folder:
        copy = Path(folder) / 'tree'
        shutil.copytree(ROOT, copy, ignore=shutil.ignore_patterns('.*', '__pycache__', 'build'))
        os.chdir(copy)
        os.environ['PYTHONPATH'] = str(copy)
        if parsed.promises:
            return 1 if break_promises(copy, [
                promise for promise in PROMISES if parsed.modules == [*TESTS] or any(
                    f'mnm_ros/{promise.module}/'.startswith(f'{module.rstrip("/")}/')
                    for module in parsed.modules)]) else 0
        return 1 if run(copy, parsed.modules, parsed.sample, parsed.seed) else 0


if __name__ == '__main__':
    sys.exit(main())
