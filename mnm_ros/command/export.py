# SPDX-License-Identifier: Apache-2.0

"""Write what was learnt for other programs."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
import sys

from mnm_ros.checkpoint.whole_files import write_whole
from mnm_ros.command.arguments import add_source, parser, split
from mnm_ros.export.formats import FORMATS


def main(arguments: Sequence[str], program: str) -> int:
    """Write a file, or to the output; 1 if nothing can be written."""
    words, ros_arguments = split(arguments)
    made = parser(program, 'Write what was learnt for other programs.')
    made.formatter_class = argparse.RawDescriptionHelpFormatter
    made.epilog = '\n'.join([
        'formats:', *(f'  {name:<11} {row.help}' for name, row in FORMATS.items()), '',
        'RESET leads home from everywhere and is left out of the graphs.',
        f'{made.epilog}'])
    add_source(made)
    made.add_argument('--format', choices=tuple(FORMATS), default='json',
                      help='one of those below (default %(default)s)')
    made.add_argument('--output', '--out', metavar='FILE',
                      type=lambda text: Path(text).expanduser(),
                      help='where to write it (default: the standard output)')
    given = made.parse_args(words)

    from mnm_ros.checkpoint.input_log import Refused
    from mnm_ros.command.arguments import NoAnswer
    from mnm_ros.command.source import find
    from mnm_ros.export.writers import Unwritable
    row = FORMATS[given.format]
    try:
        written = row.write(find(given, ros_arguments, row.log))
        _write(given.output, written)
    except BrokenPipeError:
        raise
    except (OSError, Refused, NoAnswer, Unwritable) as error:
        print(f'{program}: {error}', file=sys.stderr)
        return 1
    return 0


def _write(path: Path | None, content: bytes) -> None:
    if path is None:
        sys.stdout.buffer.write(content)
        sys.stdout.flush()
    elif path.exists() and not path.is_file():    # a pipe, or /dev/stdout
        path.write_bytes(content)
    else:
        write_whole(path, content)
