# SPDX-License-Identifier: Apache-2.0

"""
The server that serves the page in a thread beside the node.

The server bounds what visitors hold of it who do not stay. A page is built for each request and
waits for the socket of its browser; a script that only asks has none. NiceGUI forgets such a page
after a minute; uvicorn never forgets a connection that says nothing.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
import ctypes
import gc
import socket
from threading import Thread
import time
from typing import Any

from fastapi import FastAPI
from mnm_ros.core.errors import ParameterError
from mnm_ros.page.page_parts import ICON
from mnm_ros.view.web.origin import OwnPagesOnly
from nicegui import Client, ui
import uvicorn
from uvicorn.protocols.http.auto import AutoHTTPProtocol

_GRACE = 1       # s, for requests under way when the node ends
_JOIN = 3.0      # s, after which the thread is not waited for
_MOMENT = 0.005  # s
_PAGES = 20          # that wait for a socket, each of 0.8 MB; browsers have one within a second
_SETTLE = 2.0        # s, after which the memory of what is gone is returned
_CONNECTIONS = 200   # that have not asked for anything
_PATIENCE = 10.0     # s, for a first request


class WebServer:
    """
    Serves the page until ``stop``.

    :param build: builds the page of a browser.
    :raises ParameterError: if the address cannot be bound.
    :ivar address: of the page.
    """

    def __init__(self, build: Callable[[], object], host: str, port: int) -> None:
        self._socket = _bound(host, port)
        shown = f'[{host}]' if ':' in host else host
        self.address = f'http://{shown}:{self._socket.getsockname()[1]}/'
        self._waiting = WaitingPages()
        ui.page('/', title='mnm_ros')(lambda: self._build(build))
        application = FastAPI(docs_url=None, redoc_url=None, openapi_url=None)
        ui.run_with(application, favicon=ICON, dark=None, tailwind=False,
                    binding_refresh_interval=None, reconnect_timeout=10.0,
                    show_welcome_message=False)
        self._server = uvicorn.Server(uvicorn.Config(
            OwnPagesOnly(application, host), log_level='warning', access_log=False,
            http=Connection, timeout_graceful_shutdown=_GRACE))
        self._thread = Thread(target=self._run, name='page', daemon=True)

    def start(self) -> None:
        """
        Serve from now on.

        NiceGUI examines all objects when it starts, also those that another thread has not
        finished. Python then raises SystemError there, so that the caller waits.
        """
        self._socket.listen()
        self._thread.start()
        while self._thread.is_alive() and not self._server.started:
            time.sleep(_MOMENT)

    def stop(self) -> None:
        """End; browsers say then that the page has gone."""
        self._server.should_exit = True
        self._thread.join(_JOIN)
        self._socket.close()

    def _build(self, build: Callable[[], object]) -> None:
        self._waiting.add(ui.context.client)
        build()

    def _run(self) -> None:
        self._server.run(sockets=[self._socket])


def _bound(host: str, port: int) -> socket.socket:
    try:
        family, kind, *_, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0]
        bound = socket.socket(family, kind)
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound.bind(address)
    except OSError as error:
        raise ParameterError(
            f"parameters 'host' and 'port' are {host!r} and {port}: {error.strerror}, expected "
            'an address of this machine and a port that no program uses; port 0 takes any'
            ) from None
    return bound


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
