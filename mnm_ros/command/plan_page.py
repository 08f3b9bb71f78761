# SPDX-License-Identifier: Apache-2.0

"""Serves the page on which a plan, or a place graph, is edited, until it is interrupted."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
import signal
from threading import Event
from typing import Any, TYPE_CHECKING

from mnm_ros.command.floor_plan import written
from mnm_ros.command.place_graph import saved
from mnm_ros.command.plan_forecast import forecast, graph_forecast
from mnm_ros.core.errors import InvalidValueError
from mnm_ros.plan import edits, place_edits
from mnm_ros.plan.draft import Draft
from mnm_ros.plan.findings import findings
from mnm_ros.plan.floor_plan import Plan
from mnm_ros.plan.place_findings import place_findings
from mnm_ros.plan.place_maker import MadePlaces
from mnm_ros.plan.request import Wishes

if TYPE_CHECKING:
    from mnm_ros.page.edit_page import Shared


def serve_plan(plan: Plan, path: Path, source: str, wishes: Wishes, port: int,
               language: str) -> None:
    """
    Serve the page of a plan on this machine alone.

    :param path: where the plan is saved, and beside it what belongs to it.
    :param source: what the plan was made of.
    :param language: of a browser that asks for none in its address.
    :raises InvalidValueError: if NiceGUI is not installed, or the port is in use.
    """
    with _nicegui():
        from mnm_ros.page.edit_page import Shared
        from mnm_ros.page.plan_page import PlanPage
    shared = Shared(Draft(plan, edits.edited), str(path),
                    lambda now, _: written(now, path, source, wishes),
                    lambda now, language: [*forecast(now, wishes, language)], findings)
    _serve(lambda: PlanPage(shared, language), shared, port)


def serve_places(made: MadePlaces, port: int, language: str) -> None:
    """
    Serve the page of a place graph on this machine alone.

    :param made: the graph, which may have names that its file lacks.
    :param language: of a browser that asks for none in its address.
    :raises InvalidValueError: if NiceGUI is not installed, or the port is in use.
    """
    with _nicegui():
        from mnm_ros.page.edit_page import Shared
        from mnm_ros.page.place_page import PlacePage
    rules = made.rules
    draft = Draft(made.graph, partial(place_edits.edited, rules))
    draft.saved = made.in_file
    shared = Shared(draft, str(made.graph.path),
                    partial(saved, rules),
                    lambda now, language: [*graph_forecast(now, language)],
                    partial(place_findings, rules))
    _serve(lambda: PlacePage(shared, rules, language), shared, port)


@contextmanager
def _nicegui() -> Iterator[None]:
    try:
        yield
    except ModuleNotFoundError as error:
        if (error.name or '').partition('.')[0] == 'mnm_ros':
            raise
        raise InvalidValueError(
            f"{error}, expected NiceGUI for --page: pip install 'nicegui>=3.4,<4' (the extra "
            'dashboard)') from None


def _serve(page: Callable[[], object], shared: Shared[Any], port: int) -> None:
    from mnm_ros.page.web_server import WebServer
    server = WebServer(page, 'localhost', port)
    ended = Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: ended.set())
    server.start()
    print(f'the page is at {server.address}', flush=True)
    while not ended.wait(0.5):    # a signal is handled between two waits
        pass
    server.stop()
    if shared.draft.now is not shared.draft.saved:
        print(f'what was edited since {shared.where} was saved is lost')
