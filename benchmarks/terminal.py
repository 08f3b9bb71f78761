# SPDX-License-Identifier: Apache-2.0

"""
Run scripts/explore in a pseudo terminal and draw its last screen as an SVG file.

    benchmarks/terminal
    benchmarks/terminal --output flat.svg two_room_flat --changes 2 --radius 3

Arguments that are not its own go to scripts/explore. The file names no font that has to be loaded.
Needs rich 12.3 or newer, which draws it.
"""

from __future__ import annotations

import fcntl
import io
import os
from pathlib import Path
import pty
import re
import struct
import subprocess
import sys
import termios

from arguments import Arguments
from rich.console import Console
from rich.text import Text

ROOT = Path(__file__).resolve().parents[1]
COLUMNS, ROWS = 84, 40


def run(arguments: list[str]) -> str:
    """
    Return everything that scripts/explore writes to a terminal.

    :raises CalledProcessError: if it ends with another status than 0.
    """
    reader, writer = pty.openpty()
    fcntl.ioctl(writer, termios.TIOCSWINSZ, struct.pack('HHHH', ROWS, COLUMNS, 0, 0))
    environment = {name: value for name, value in os.environ.items()
                   if name not in ('COLUMNS', 'LINES', 'NO_COLOR')}
    command = [str(ROOT / 'scripts' / 'explore'), *arguments]
    written = b''
    with subprocess.Popen(command, stdin=writer, stdout=writer,
                          env={**environment, 'TERM': 'xterm-256color'}) as process:
        os.close(writer)
        try:
            while chunk := os.read(reader, 65536):
                written += chunk
        except OSError:    # how the end of a pseudo terminal shows on Linux
            pass
    os.close(reader)
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, command)
    return written.decode()


def last_screen(written: str) -> list[str]:
    """Return the lines that stay on the terminal: each picture is drawn over the one before."""
    text = re.split(r'(?:\x1b\[1A(?:\x1b\[2K)?)+', written)[-1]
    text = re.sub(r'\x1b\[(\?25[lh]|2?K)', '', text)
    return re.sub(r'\n{3,}', '\n\n', text.replace('\r', '')).strip('\n').split('\n')


def draw(lines: list[str], title: str) -> str:
    """Return an SVG picture of lines with ANSI styles."""
    console = Console(record=True, file=io.StringIO(), width=COLUMNS, color_system='standard')
    for line in lines:
        console.print(Text.from_ansi(line), highlight=False)
    # Fonts are not loaded from elsewhere: any monospaced one will do, as lengths are given.
    return re.sub(r'<!--.*?-->|@font-face \{.*?\}\s*', '', console.export_svg(title=title),
                  flags=re.DOTALL)


def main() -> None:
    parser = Arguments(
        __doc__, epilog='All other arguments go to scripts/explore (default: --changes 1).')
    parser.add_argument('--output', type=Path, metavar='FILE',
                        default=ROOT / 'docs' / 'figures' / 'terminal.svg',
                        help='where to write the picture (default docs/figures/terminal.svg)')
    given, arguments = parser.parse_known_args()
    arguments = arguments or ['--changes', '1']
    command = f'scripts/explore {" ".join(arguments)}'
    lines = last_screen(run(arguments))
    given.output.write_text(draw([f'$ {command}', *lines], command), encoding='utf-8')
    print(f'{given.output} written')


if __name__ == '__main__':
    sys.exit(main())
