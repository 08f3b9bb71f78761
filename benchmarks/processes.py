# SPDX-License-Identifier: Apache-2.0

"""What Linux says of a process: its memory, and the time of the processor that it has taken."""

from __future__ import annotations

import os
from pathlib import Path


def megabytes(name: str) -> float:
    """Return ``VmRSS``, the resident memory of this process, or ``VmHWM``, its peak."""
    for line in Path('/proc/self/status').read_text(encoding='ascii').splitlines():
        if line.startswith(f'{name}:'):
            return int(line.split()[1]) / 1024
    raise RuntimeError(f'/proc/self/status has no {name}, expected that of Linux')


def processor_seconds(pid: int) -> float:
    """Return what a process has taken so far, 0 once it has ended."""
    try:
        fields = Path(f'/proc/{pid}/stat').read_text(encoding='ascii').rpartition(')')[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf('SC_CLK_TCK')
