# SPDX-License-Identifier: Apache-2.0

"""Find the version of the package: in ``package.xml`` of a source tree, or as installed."""

from __future__ import annotations

from pathlib import Path
import re


def _version() -> str:
    beside = Path(__file__).parents[1] / 'package.xml'
    if beside.is_file():
        return re.findall('<version>(.*?)</version>', beside.read_text(encoding='utf-8'))[0]
    from importlib import metadata  # takes long to import
    return metadata.version('mnm_ros')


__version__: str = _version()
