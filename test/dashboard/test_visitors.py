# SPDX-License-Identifier: Apache-2.0

"""What visitors hold of the server of the page is bounded."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

from late import late
import pytest

SERVER = 'mnm_ros.page.web_server'

late('nicegui')
uvicorn, web_server = late('uvicorn'), late(SERVER)

DEADLINE = 60.0    # s


class Page:
    """A client of NiceGUI, as far as it is asked."""

    instances: dict[int, Page] = {}

    def __init__(self, name: int) -> None:
        self.id = name    # noqa: A003
        self.instances[name] = self

    def on_connect(self, handler: Callable[[], None]) -> None:
        self.connected = handler

    def on_delete(self, handler: Callable[[], None]) -> None:
        self.deleted = handler

    def delete(self) -> None:
        self.deleted()
        del self.instances[self.id]


def test_pages_without_a_socket_are_few_and_those_with_one_stay(
        monkeypatch: pytest.MonkeyPatch) -> None:
    """What they took is given back once, after the last of them."""
    given_back: list[int] = []
    monkeypatch.setattr(f'{SERVER}.Client', Page)
    monkeypatch.setattr(f'{SERVER}._SETTLE', 0.1)
    monkeypatch.setattr(f'{SERVER}._give_back', lambda: given_back.append(len(Page.instances)))
    Page.instances.clear()

    async def visit() -> None:
        pages = web_server.WaitingPages()
        for number in range(1000):
            page = Page(number)
            pages.add(page)
            if number % 100 == 7:
                page.connected()
            if number % 100 == 13:    # which NiceGUI has forgotten
                page.delete()
            assert len(Page.instances) <= web_server._PAGES + 10
        while not given_back:
            await asyncio.sleep(0.01)

    asyncio.run(asyncio.wait_for(visit(), DEADLINE))
    browsers = {number for number in range(1000) if number % 100 == 7}
    assert browsers < {*Page.instances} and len(Page.instances) == web_server._PAGES + 10
    assert given_back == [web_server._PAGES + 10]


async def answer(scope: Any, receive: Callable[[], Awaitable[Any]],
                 send: Callable[[Any], Awaitable[None]]) -> None:
    if scope['type'] == 'http':
        await send({'type': 'http.response.start', 'status': 200,
                    'headers': [(b'content-length', b'2')]})
        await send({'type': 'http.response.body', 'body': b'ok'})


@asynccontextmanager
async def served() -> AsyncIterator[int]:
    """Serve with such connections; the port."""
    server = uvicorn.Server(uvicorn.Config(
        answer, port=0, http=web_server.Connection, log_level='warning', lifespan='off',
        timeout_keep_alive=60))
    running = asyncio.ensure_future(server.serve())
    while not server.started:
        await asyncio.sleep(0.01)
    yield server.servers[0].sockets[0].getsockname()[1]
    server.should_exit = True
    await running


async def ended(reader: asyncio.StreamReader) -> bool:
    """Wait for the end of a connection."""
    try:
        return await asyncio.wait_for(reader.read(1), DEADLINE) == b''
    except ConnectionError:
        return True


ASKED = b'GET / HTTP/1.1\r\nHost: a\r\n\r\n'


def test_a_connection_that_asks_for_nothing_is_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nor does a part of a request keep it; one that has asked is left alone."""
    monkeypatch.setattr(f'{SERVER}._PATIENCE', 1.0)

    async def visit() -> None:
        async with served() as port:
            asked, silent, slow = [await asyncio.open_connection('127.0.0.1', port)
                                   for _ in range(3)]
            asked[1].write(ASKED)
            assert (await asked[0].readuntil(b'ok')).startswith(b'HTTP/1.1 200')
            slow[1].write(ASKED[:9])
            assert await ended(silent[0]) and await ended(slow[0])
            asked[1].write(ASKED)
            assert (await asked[0].readuntil(b'ok')).startswith(b'HTTP/1.1 200')
            assert not web_server.Connection._silent

    asyncio.run(visit())


def test_silent_connections_are_few_and_a_browser_is_served(
        monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(f'{SERVER}._CONNECTIONS', 20)

    async def visit() -> None:
        async with served() as port:
            silent = [await asyncio.open_connection('127.0.0.1', port) for _ in range(60)]
            reader, writer = await asyncio.open_connection('127.0.0.1', port)
            writer.write(ASKED)
            assert (await reader.readuntil(b'ok')).startswith(b'HTTP/1.1 200')
            assert len(web_server.Connection._silent) <= 20
            assert await ended(silent[0][0])
            for _, each in silent:
                each.close()

    asyncio.run(visit())
