# SPDX-License-Identifier: Apache-2.0

"""
Who asks for what, as it is said on ``requests`` beside the call of a service: JSON objects.

The standard services do not say who calls them. A reader ignores keys that are not known.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Union

from mnm_ros.core.progress.json_values import one_line, read_json
from mnm_ros.core.progress.said import maybe_said, Reason, Said


@dataclass(frozen=True)
class Request:
    """
    A request that a node is about to make of another one, or has just made.

    :ivar what: ``stop``, ``free``, ``pause``, ``resume``, ``home``, ``recover``, ``save``,
        ``load``, ``look``, ``improve``, ``cancel``, ``change``, ``goal`` or ``setting``;
        ``at_home`` or ``not_home`` when the service ``return_home`` has led home, or has not;
        ``hazard`` when the base of a robot says why it does not move.
    :ivar by: from where it comes: ``page 192.0.2.7``, ``mnm_ros stop``, ``navigator``; where a
        service is called by nobody knows whom, ``service cancel``.
    :ivar user: who uses ``mnm_ros``.
    :ivar part_of: the request that it is a part of, such as ``goal``, which has its own event.
    :ivar goal, state: the id of a goal, if it has one yet, and where it leads.
    :ivar text: more of it, for people.
    :ivar said: the same as a value, of which a reader makes a sentence in its language.
    :ivar ago: s since it was asked for, if that is said afterwards.
    :ivar id: distinguishes the event that answers it from other answers; unique.
    """

    what: str
    by: str
    user: Union[str, None] = None
    part_of: Union[str, None] = None
    goal: Union[int, None] = None
    state: Union[int, None] = None
    text: Union[str, None] = None
    ago: Union[float, None] = None
    id: Union[str, None] = None
    said: Annotated[Union[Said, None], maybe_said] = None

    @property
    def reason(self) -> Reason:
        """Return more of it, as a value if there is one."""
        return self.said or self.text or ''

    def to_json(self) -> str:
        """Return it as one JSON object without line breaks."""
        return one_line(self, **({'said': self.said.to_plain()} if self.said else {}))

    @classmethod
    def from_json(cls, told: str) -> Request:
        """
        Read what ``to_json`` has returned.

        :raises ValueError: says which entry is wrong and what was expected.
        """
        return read_json(cls, 'request', told)
