"""Lets the tests import the benchmarks, which are programs and no package."""

from __future__ import annotations

from pathlib import Path
import sys

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / 'benchmarks'))
