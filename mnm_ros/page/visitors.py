# SPDX-License-Identifier: Apache-2.0

"""
Bounds what visitors hold of the server who do not stay: pages, and connections.

A page is built for each request, and waits for the socket of its browser; a script that only asks
has none. NiceGUI forgets such a page after a minute, uvicorn a connection that says nothing never.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
import ctypes
import gc
from typing import Any

from nicegui import Client
from uvicorn.protocols.http.auto import AutoHTTPProtocol

_PAGES = 20          # that wait for a socket, each of 0.8 MB; browsers have one within a second
_SETTLE = 2.0        # s, after which the memory of what is gone is given back
_CONNECTIONS = 200   # that have not asked for anything
_PATIENCE = 10.0     # s, for a first request


class WaitingPages:
    """The pages without a socket so far; of more than ``_PAGES`` the oldest are removed."""

    def __init__(self) -> None:
        self._pages: dict[str, Client] = {}
        self._settling: asyncio.TimerHandle | None = None

    def add(self, page: Client) -> None:
        """Take a page that is being built."""
        self._pages[page.id] = page
        page.on_connect(lambda: self._forget(page.id))
        page.on_delete(lambda: self._gone(page.id))
        while len(self._pages) > _PAGES:
            oldest = self._pages.pop(next(iter(self._pages)))
            if oldest.id in Client.instances:
                oldest.delete()

    def _forget(self, name: str) -> None:
        self._pages.pop(name, None)

    def _gone(self, name: str) -> None:
        self._forget(name)
        if self._settling is None:
            self._settling = asyncio.get_running_loop().call_later(_SETTLE, self._settle)

    def _settle(self) -> None:
        self._settling = None
        _give_back()


def _give_back() -> None:
    """Give memory back: pages are circles of objects, and malloc keeps what it has."""
    gc.collect()
    try:
        ctypes.CDLL(None).malloc_trim(0)
    except (AttributeError, OSError):    # not the C library of GNU
        pass


class Connection(AutoHTTPProtocol):
    """A connection that is closed if it has not asked for anything in time."""

    _silent: dict[Connection, asyncio.TimerHandle] = {}

    def connection_made(self, transport: Any) -> None:
        """Begin to wait for a request."""
        super().connection_made(transport)
        self._silent[self] = asyncio.get_running_loop().call_later(_PATIENCE, transport.abort)
        if len(self._silent) > _CONNECTIONS:
            oldest: Connection = next(iter(self._silent))
            abort: Callable[[], None] = oldest.transport.abort
            oldest._spoke()
            abort()

    def data_received(self, data: bytes) -> None:
        """Take what has come; a part of a request is none."""
        super().data_received(data)
        if self.cycle is not None or self.transport.get_protocol() is not self:
            self._spoke()

    def connection_lost(self, error: Exception | None) -> None:
        """Forget it."""
        self._spoke()
        super().connection_lost(error)

    def _spoke(self) -> None:
        waiting = self._silent.pop(self, None)
        if waiting is not None:
            waiting.cancel()
