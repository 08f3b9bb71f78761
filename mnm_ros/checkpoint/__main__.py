# SPDX-License-Identifier: Apache-2.0

"""Print what checkpoint files hold: ``python3 -m mnm_ros.checkpoint FILE ...``."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
import json
from pathlib import Path
import sys

from mnm_ros.checkpoint.input_log import refusing, SavedInputs
from mnm_ros.core.errors import CheckpointError, FileError
from mnm_ros.core.progress.said import known_said
from mnm_ros.files import user_path
from mnm_ros.view.sentences import sentence


def describe(path: Path) -> str:
    """Return what a file holds, one line for each thing; CheckpointError if it cannot be read."""
    saved = SavedInputs(path)
    with refusing(path):
        return _described(saved)


def _described(saved: SavedInputs) -> str:
    lines = [f'{name}: {json.dumps(value)}' for name, value in saved.identity.items()]
    point = saved.point
    lines.append(f'inputs: {saved.number}, {len(saved.inputs)} of them since the resume point')
    lines += [f'transitions reported by {source}: {number}'
              for source, number in sorted(saved.sources().items())]
    if point is None:
        lines.append('resume point: the very beginning')
    else:
        lines += [f'resume point: step {point["steps"]}, round {point["mnm"]["round"]}',
                  f'last decision: {sentence(known_said("news", point["news"]))}',
                  f'known states: {" ".join(map(str, point["known"])) or "none yet"}']
    return '\n'.join(lines)


def main(arguments: Sequence[str] | None = None,
         program: str = 'python3 -m mnm_ros.checkpoint') -> int:
    """Print what the files named on the command line hold; 1 if one cannot be read."""
    parser = argparse.ArgumentParser(
        prog=program, description='Print what checkpoint files hold: the parameters, how many '
        'inputs, the resume point and the known states. An explorer may be writing to them.')
    parser.add_argument('files', nargs='+', type=Path, metavar='FILE',
                        help='a *.sqlite in the checkpoint_dir of an explorer')
    for path in parser.parse_args(arguments).files:
        try:
            print(describe(user_path(path)))
        except (CheckpointError, FileError) as error:
            print(error, file=sys.stderr)
            return 1
    return 0


if __name__ == '__main__':
    sys.exit(main())
