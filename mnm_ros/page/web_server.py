# SPDX-License-Identifier: Apache-2.0

"""The server that serves the page in a thread beside the node."""

from __future__ import annotations

from collections.abc import Callable
import socket
from threading import Thread
import time

from fastapi import FastAPI
from mnm_ros.core.errors import ParameterError
from mnm_ros.page.page_parts import ICON
from mnm_ros.page.visitors import Connection, WaitingPages
from mnm_ros.view.web.origin import OwnPagesOnly
from nicegui import ui
import uvicorn

_GRACE = 1       # s, for requests under way when the node ends
_JOIN = 3.0      # s, after which the thread is left alone
_MOMENT = 0.005  # s


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

        NiceGUI looks at all objects when it starts, also at those that another thread has not
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
