# SPDX-License-Identifier: Apache-2.0

"""Which code makes the results: where this is the same, they are the same bit for bit."""

from __future__ import annotations

from functools import lru_cache
import hashlib
from importlib.metadata import version
from pathlib import Path
import platform
import subprocess
import xml.etree.ElementTree as ElementTree

ROOT = Path(__file__).resolve().parents[1]
COUNTED = ('mnm_ros/**/*.py', 'config/*/*.yaml', 'benchmarks/*.py')
"""What results may depend on; a page of the documentation does not count."""


@lru_cache(maxsize=1)
def digest() -> str:
    """Return a digest of all files that results may depend on."""
    found = hashlib.sha256()
    for path in sorted(path for pattern in COUNTED for path in ROOT.glob(pattern)):
        content = path.read_bytes()
        found.update(f'{path.relative_to(ROOT).as_posix()} {len(content)}\n'.encode())
        found.update(content)
    return found.hexdigest()[:12]


@lru_cache(maxsize=1)
def package_version() -> str:
    """
    Return the version of the package and the commit, which are a column of all results.

    With changes that are not committed, or without git, the digest tells which code it is.
    """
    number = ElementTree.parse(ROOT / 'package.xml').findtext('version', 'unknown')
    try:
        found = subprocess.run(
            ['git', '-C', str(ROOT), 'describe', '--always', '--dirty', '--exclude=*'],
            capture_output=True, text=True, timeout=20)
    except (OSError, subprocess.TimeoutExpired):
        return f'{number}+{digest()}'
    commit = found.stdout.strip()
    if found.returncode:
        return f'{number}+{digest()}'
    return f'{number}+{commit}.{digest()}' if commit.endswith('-dirty') else f'{number}+{commit}'


@lru_cache(maxsize=1)
def environment() -> dict[str, str]:
    """Return all that has to be the same on two machines for results to be the same."""
    return {
        'mnm_ros': digest(), 'Python': '.'.join(platform.python_version_tuple()[:2]),
        'numpy': version('numpy'), 'scipy': version('scipy'), 'processor': platform.machine()}
