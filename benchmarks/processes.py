# SPDX-License-Identifier: Apache-2.0

"""The memory and the time of the processor that a process has taken, and the end of it."""

from __future__ import annotations

from collections.abc import Sequence
import os
from pathlib import Path
import subprocess
from typing import Any

PATIENCE = 10.0    # s, for a process to end by itself


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


def end(processes: Sequence[subprocess.Popen[Any]]) -> None:
    """End processes, all at once."""
    for process in processes:
        process.terminate()
    for process in processes:
        try:
            process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
