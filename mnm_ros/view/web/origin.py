# SPDX-License-Identifier: Apache-2.0

"""
Whom the server of the page answers.

Any web site that is open in a browser may send requests to this machine, and open
websockets. What it cannot do is to say that they come from this page: ``Origin`` is set by the
browser. If a stranger has named this machine in another name service, that name shows in
``Host``. A picture, a frame or a ``GET`` of another site has no ``Origin``, but ``Sec-Fetch-Site``
says where it comes from. So does a link on another site that a user follows. That is answered:
it opens a page that the user sees, while the site neither sees it nor can do anything on it.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, MutableMapping
import ipaddress
import socket
from typing import Any
from urllib.parse import urlsplit

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]


class OwnPagesOnly:
    """
    An ASGI application before another one, which refuses requests that other sites have caused.

    :param app: the other one.
    :param host: what the server is bound to.
    """

    def __init__(self, app: App, host: str) -> None:
        self._app = app
        self._names = {'localhost', host.lower(), *_own_names()}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or answer it with 403."""
        if scope['type'] == 'lifespan' or not self.refusal(scope.get('headers', ())):
            await self._app(scope, receive, send)
        elif scope['type'] == 'websocket':
            await send({'type': 'websocket.close', 'code': 1008})
        else:
            reason = self.refusal(scope['headers'])
            await send({'type': 'http.response.start', 'status': 403,
                        'headers': [(b'content-type', b'text/plain; charset=utf-8')]})
            await send({'type': 'http.response.body', 'body': f'{reason}\n'.encode()})

    def refusal(self, headers: Iterable[tuple[bytes, bytes]]) -> str:
        """Return why a request with these headers is refused; empty if it is not."""
        given = {name.decode('latin-1').lower(): value.decode('latin-1')
                 for name, value in headers}
        host = given.get('host', '')
        if not self._is_own(host):
            return (f'Host is {host!r}, expected an address or a name of this machine: '
                    f'{", ".join(sorted(self._names))}')
        origin = given.get('origin')
        if origin is not None and _place(origin) != host.lower():
            return f'Origin is {origin!r}, expected a page of {host}'
        site = given.get('sec-fetch-site', 'none')    # not there: no browser, or an old one
        followed = (given.get('sec-fetch-mode'), given.get('sec-fetch-dest')) == (
            'navigate', 'document')
        if site not in ('same-origin', 'none') and not followed:
            return f'Sec-Fetch-Site is {site!r}, expected a page of {host}, or a link to it'
        return ''

    def _is_own(self, host: str) -> bool:
        try:
            name = urlsplit(f'//{host}').hostname or ''
            if name in self._names:
                return True
            ipaddress.ip_address(name)
        except ValueError:
            return False
        return True


def _place(origin: str) -> str:
    try:
        return urlsplit(origin).netloc.lower()
    except ValueError:
        return ''


def _own_names() -> set[str]:
    name = socket.gethostname().lower()
    return {name, f'{name.partition(".")[0]}.local'} - {''}
