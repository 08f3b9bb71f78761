# SPDX-License-Identifier: Apache-2.0

"""JSON files that nodes leave behind."""

from __future__ import annotations

from collections.abc import Mapping
import json
from pathlib import Path
from typing import Any

from mnm_ros.checkpoint.whole_files import write_whole
from rclpy.node import Node


def write_json(path: str | Path, content: Mapping[str, Any]) -> Path:
    """
    Write a file and return its path; a reader sees the old file or the new one, never a part.

    Missing directories are made. OSError if that or the writing fails.
    """
    path = Path(path).expanduser().absolute()
    path.parent.mkdir(parents=True, exist_ok=True)
    return write_whole(path, json.dumps(content))


def write_record(
        node: Node, path: str, counts: Mapping[tuple[int, int], Mapping[int, int]]) -> None:
    """
    Write counts ``{(state, action): {next: n}}`` as ``{state: {action: {next: n}}}``.

    Does nothing if ``path`` is empty; logs an error if the file cannot be written.
    """
    if not path:
        return
    record: dict[int, Any] = {}
    for (state, action), following in counts.items():
        record.setdefault(state, {})[action] = dict(following)
    steps = sum(sum(following.values()) for following in counts.values())
    try:
        write_json(path, {'steps': steps, 'counts': record})
    except OSError as error:
        node.get_logger().error(f'record not written: {error}')
