# SPDX-License-Identifier: Apache-2.0

"""Serves the page on which a plan is edited, until it is interrupted."""

from __future__ import annotations

from pathlib import Path
import signal
from threading import Event

from mnm_ros.command.floor_plan import written
from mnm_ros.core.errors import InvalidValueError
from mnm_ros.plan.draft import Draft
from mnm_ros.plan.edits import edited
from mnm_ros.plan.floor_plan import Plan
from mnm_ros.plan.request import Wishes


def serve(plan: Plan, path: Path, source: str, wishes: Wishes, port: int) -> None:
    """
    Serve the page on this machine alone.

    :param path: where the plan is saved, and beside it what belongs to it.
    :param source: what the plan was made of.
    :raises InvalidValueError: if NiceGUI is not installed, or the port is in use.
    """
    try:
        from mnm_ros.page.plan_page import PlanPage, SharedPlan
        from mnm_ros.page.web_server import WebServer
    except ModuleNotFoundError as error:
        if (error.name or '').partition('.')[0] == 'mnm_ros':
            raise
        raise InvalidValueError(
            f"{error}, expected NiceGUI for --page: pip install 'nicegui>=3.4,<4' (the extra "
            'dashboard)') from None
    from mnm_ros.command.plan_forecast import forecast
    shared = SharedPlan(
        Draft(plan, edited), str(path), lambda now: written(now, path, source, wishes),
        lambda now: [*forecast(now, wishes)])
    server = WebServer(lambda: PlanPage(shared), 'localhost', port)
    ended = Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: ended.set())
    server.start()
    print(f'the page is at {server.address}', flush=True)
    while not ended.wait(0.5):    # a signal is handled between two waits
        pass
    server.stop()
    if shared.draft.now is not shared.draft.saved:
        print(f'what was edited since {path} was saved is lost')
