# SPDX-License-Identifier: Apache-2.0

"""
Close and open the lanes of a fleet of Open-RMF, as edges of an exported graph close and open.

``mnm_ros export --format rmf --follow`` uses it. Fleet adapters subscribe to requests as volatile
and answer on ``closed_lanes``; most of them publish ``lane_states``, too. A request is published
again until the answer confirms it, as ``close_lanes`` and ``open_lanes`` of ``rmf_fleet_adapter``
do.
"""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
import time
from typing import Any, TYPE_CHECKING

from mnm_ros import messages
from mnm_ros.core.knowledge.knowledge import Transition
from mnm_ros.export.lane_requests import FleetLanes
from mnm_ros.files import write_output

if TYPE_CHECKING:
    from mnm_ros.subscriptions import Listener

_ANSWERS = ('/closed_lanes', '/lane_states')
_SILENT = 2.0      # s, after which an adapter has not said what is closed, as none has asked
_UNHEARD = 5.0     # s without an answer, after which that is printed


class FleetAdapter:
    """
    The fleet adapter of a fleet, with the lanes that this command has closed.

    A lane that was closed already belongs to somebody else, and is never opened. If somebody else
    opens a lane of this command, the lane stays open until its edge has closed again, or until a
    fleet adapter starts.

    :param topic: of the requests.
    :param output: the file with the closed lanes, without those that somebody else has closed.
    :ivar own: the lanes that this command has closed, with those of the run before.
    """

    called = 'lane'

    def __init__(self, listener: Listener, lanes: FleetLanes, topic: str, output: Path,
                 own: Collection[int] = ()) -> None:
        from rmf_fleet_msgs.msg import ClosedLanes, LaneRequest, LaneStates
        self._lanes, self._output = lanes, output
        self.own = {*own}
        self._requests: Any = listener.publisher(LaneRequest, topic, messages.LATCHED_BY_MANY)
        self._request = LaneRequest
        for kind, answers in zip((ClosedLanes, LaneStates), _ANSWERS):
            listener.hear(kind, answers, messages.LATCHED_BY_MANY, self._hear)
        self._fleets: set[str] = set()
        self._adapters = 0                   # which are subscribed, of all fleets
        self._said: set[int] | None = None   # closed lanes, as the adapter has said
        self._confirmed: set[int] = set()    # of those of this command
        self._missing: set[int] = set()      # confirmed, and not closed any more
        self._opened: set[int] = set()       # by somebody else, while their edges are closed
        self._to_open: set[int] = set()      # as the last request said
        self._found = self._asked = 0.0      # when; 0 for never
        self._written = ''

    def numbers(self, edge: Transition) -> tuple[int, ...]:
        """Return the numbers of the lanes along an edge."""
        return self._lanes.numbers(edge)

    def _hear(self, message: Any) -> None:
        self._fleets.add(message.fleet_name)
        if message.fleet_name == self._lanes.fleet:
            self._said = {*message.closed_lanes}

    def tell(self, closed: Collection[Transition]) -> None:
        """Publish a request, unless the adapter has confirmed all of it."""
        wanted = {lane for edge in closed for lane in self.numbers(edge)}
        newcomer = self._newcomer()
        if self._adapters and (self._said is not None or (
                time.monotonic() > self._found + _SILENT)):
            self._take(wanted)
            said = self._said or set()
            shut = (self.own & wanted) - (set() if newcomer else said | self._missing)
            self._to_open = self.own - wanted
            if shut or self._to_open:
                self._requests.publish(self._request(
                    fleet_name=self._lanes.fleet, open_lanes=sorted(self._to_open),
                    close_lanes=sorted(shut)))
            self._complain(bool(shut - said or self._to_open))
        self._keep(closed)

    def _newcomer(self) -> bool:
        """Return whether an adapter has come since the last check; it may know of nothing."""
        before, self._adapters = self._adapters, self._requests.get_subscription_count()
        if self._adapters <= before:
            return False
        self._found = time.monotonic()
        self.own |= self._opened    # an adapter that has restarted may say so, too
        self._confirmed, self._missing, self._opened = set(), set(), set()
        return True

    def _take(self, wanted: set[int]) -> None:
        """Bring up to date which lanes this command has closed."""
        said = self._said
        if said is not None:
            self.own -= self._to_open - wanted - said    # which the adapter confirms
            missing = (self._confirmed & self.own & wanted) - said
            # Two topics say so, and the slower one may be old.
            gone = missing & self._missing
            self._missing = missing
            if gone:
                print(f'opened by somebody else: {_listed(gone)}', flush=True)
            self.own -= gone
            self._opened |= gone
            self._confirmed = (self._confirmed | said) & self.own
        self._opened &= wanted
        self.own |= wanted - (said or set()) - self._opened

    def _complain(self, waits: bool) -> None:
        """Print once that a request stays without an answer."""
        now = time.monotonic()
        if not waits:
            self._asked = 0.0
        elif not self._asked:
            self._asked = now
        elif now > self._asked + _UNHEARD:
            self._asked = float('inf')
            fleets = sorted(self._fleets - {self._lanes.fleet})
            print(f'no fleet adapter of {self._lanes.fleet} confirms the request, expected one '
                  f'on {" or ".join(_ANSWERS)}; found '
                  f'{"those of " + ", ".join(fleets) if fleets else "none"}', flush=True)

    def _keep(self, closed: Collection[Transition]) -> None:
        """Write the file if it has changed."""
        others = (self._said or set()) - self.own
        text = self._lanes.text(
            edge for edge in closed if not {*self.numbers(edge)} & others)
        if text != self._written:
            write_output(self._output, text.encode())
            self._written = text


def _listed(lanes: Collection[int]) -> str:
    return ', '.join(f'lane {lane}' for lane in sorted(lanes))
