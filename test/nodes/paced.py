# SPDX-License-Identifier: Apache-2.0

"""Simulated robots with a pause between their steps: without any, each keeps a processor busy."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from node_processes import NodeProcess, PAUSE


def paced(start: Callable[..., NodeProcess]) -> Callable[..., NodeProcess]:
    """Let scripts and nodes that are given their arguments as words pause before each answer."""
    def start_node(module: str, given: Sequence[str] = (), **parameters: object) -> NodeProcess:
        pause = ('-p', f'latency:={PAUSE}') if given else ()
        return start(module, given=[*given, *pause], **parameters)
    return start_node
