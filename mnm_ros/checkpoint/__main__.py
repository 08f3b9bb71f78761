"""Print what checkpoint files hold: ``python3 -m mnm_ros.checkpoint FILE ...``."""

from __future__ import annotations

import json
from pathlib import Path
import sys

from mnm_ros.checkpoint.input_log import Refused, Saved


def describe(path: Path) -> str:
    """Return what a file holds, one line for each thing; Refused if it cannot be read."""
    saved = Saved(path)
    lines = [f'{name}: {json.dumps(value)}' for name, value in saved.identity.items()]
    point = saved.point
    lines.append(f'inputs: {saved.number}, {len(saved.inputs)} of them since the resume point')
    if point is None:
        lines.append('resume point: the very beginning')
    else:
        hypothesis = point['mnm']['hypothesis'] or {'known': []}
        lines += [f'resume point: step {point["steps"]}, round {point["mnm"]["round"]}',
                  f'last decision: {point["news"]}',
                  f'known states: {" ".join(map(str, hypothesis["known"])) or "none yet"}']
    return '\n'.join(lines)


def main() -> None:
    """Print what the files named on the command line hold."""
    if len(sys.argv) < 2:
        sys.exit('usage: python3 -m mnm_ros.checkpoint FILE ...')
    for name in sys.argv[1:]:
        try:
            print(describe(Path(name)))
        except Refused as error:
            sys.exit(str(error))


if __name__ == '__main__':
    main()
