# SPDX-License-Identifier: Apache-2.0

"""The server answers its own pages, and no other site."""

from __future__ import annotations

import asyncio
from typing import Any

from mnm_ros.view.web.origin import OwnPagesOnly
import pytest


def answer(kind: str, bound: str = '127.0.0.1', **headers: str) -> list[dict[str, Any]]:
    """Return what is sent in answer to a request with these headers."""
    sent: list[dict[str, Any]] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        await send({'type': 'passed on'})

    async def send(message: Any) -> None:
        sent.append(message)

    scope = {'type': kind, 'headers': [
        (name.encode(), value.encode()) for name, value in headers.items()]}
    asyncio.run(OwnPagesOnly(app, bound)(scope, None, send))
    return sent


@pytest.mark.parametrize('kind', ['http', 'websocket'])
@pytest.mark.parametrize('headers', [
    {'host': 'localhost:8080'}, {'host': '127.0.0.1:8080', 'origin': 'http://127.0.0.1:8080'},
    {'host': '[::1]:8080'}, {'host': '192.168.1.7:8080', 'origin': 'http://192.168.1.7:8080'},
    {'host': 'LOCALHOST:8080', 'origin': 'http://localhost:8080'},
    {'host': 'localhost:8080', 'sec-fetch-site': 'none', 'sec-fetch-mode': 'navigate',
     'sec-fetch-dest': 'document'},                                        # typed or bookmarked
    {'host': 'localhost:8080', 'sec-fetch-site': 'same-origin', 'sec-fetch-mode': 'no-cors',
     'sec-fetch-dest': 'script'},
    {'host': 'localhost:8080', 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate',
     'sec-fetch-dest': 'document', 'sec-fetch-user': '?1'}])               # a link on another site
def test_own_pages_are_answered(kind: str, headers: dict[str, str]) -> None:
    assert answer(kind, **headers) == [{'type': 'passed on'}]


@pytest.mark.parametrize('headers', [
    {'host': 'localhost:8080', 'origin': 'http://evil.example'},
    {'host': 'localhost:8080', 'origin': 'http://localhost:9090'},
    {'host': 'localhost:8080', 'origin': 'null'},
    {'host': 'evil.example:8080', 'origin': 'http://evil.example:8080'},    # rebound to here
    {'host': 'evil.example'}, {'host': '['}, {},
    *({'host': 'localhost:8080', 'sec-fetch-site': site, 'sec-fetch-mode': mode,
       'sec-fetch-dest': what}
      for site in ('cross-site', 'same-site')    # the latter is another port of this machine
      for mode, what in (('no-cors', 'empty'), ('no-cors', 'image'), ('no-cors', 'script'),
                         ('cors', 'empty'), ('navigate', 'iframe'), ('navigate', 'object')))])
def test_other_sites_are_refused(headers: dict[str, str]) -> None:
    start, body = answer('http', **headers)
    assert start['status'] == 403 and b'expected' in body['body']
    assert answer('websocket', **headers) == [{'type': 'websocket.close', 'code': 1008}]


def test_the_name_that_it_is_bound_to_is_its_own() -> None:
    assert answer('http', bound='robot', host='robot:8080') == [{'type': 'passed on'}]


def test_an_origin_that_is_no_address_is_refused() -> None:
    refused = OwnPagesOnly(None, '127.0.0.1').refusal(
        [(b'host', b'127.0.0.1:8080'), (b'origin', b'http://[')])
    assert refused.startswith("Origin is 'http://['")
