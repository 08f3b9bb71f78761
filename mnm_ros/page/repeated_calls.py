# SPDX-License-Identifier: Apache-2.0

"""A request to one service or several of a kind, made again until each has done it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial, reduce
import math
from typing import Any, NamedTuple

from mnm_ros.language import Phrase, Text
from mnm_ros.nodes.common.commanding import CALL_AGAIN

_TIMEOUT = 5.0    # s, for an answer
_REPEAT = 1.0     # s, after which a request is made again: it may have been lost
_AGAIN = 0.3      # s, after an answer that it is not done yet


class CommandOutcome(NamedTuple):
    """
    The result of a control.

    :ivar text: the answer of a node in its words, or a phrase of the page.
    :ivar good: whether it was done; None as long as that is open.
    """

    text: Text
    good: bool | None


def never(response: Any) -> bool:
    """Say of each answer that it is the last."""
    return False


class RepeatedCalls:
    """
    One request to several services.

    :param clients: by the robot, empty where there is only one.
    :param unfinished: says of an answer whether the request is to be made again.
    :param repeat: whether a request may be made again that was not answered.
    :param answered: called after each answer.
    :param words: how the page calls what is done, what is not done yet, and perhaps what is
        refused; otherwise, the words of the service stand.
    """

    def __init__(self, clients: Mapping[str, Any], request: Any,
                 unfinished: Callable[[Any], bool] = never, repeat: bool = True,
                 answered: Callable[[], object] = lambda: None,
                 words: Sequence[Text] = ()) -> None:
        self._answered, self._words = answered, words
        self._clients, self._request = clients, request
        self._unfinished, self._repeat = unfinished, repeat
        self._said = dict.fromkeys(clients, CommandOutcome(Phrase.of('outcomes.asked'), None))
        self._due = dict.fromkeys(clients, -math.inf)
        self._give_up = dict.fromkeys(clients, math.inf)

    def look(self, now: float) -> CommandOutcome:
        """Make the requests that are due; return what came of all so far."""
        for robot, client in self._clients.items():
            if self._said[robot].good is not None:
                continue
            if not client.service_is_ready():
                self._said[robot] = CommandOutcome(Phrase.of('outcomes.not_there'), False)
            elif now > self._give_up[robot]:
                self._said[robot] = CommandOutcome(
                    Phrase.of('outcomes.no_answer', seconds=_TIMEOUT), False)
            elif now >= self._due[robot]:
                self._give_up[robot] = min(self._give_up[robot], now + _TIMEOUT)
                self._due[robot] = now + _REPEAT if self._repeat else math.inf
                future = client.call_async(self._request)
                future.add_done_callback(partial(self._on_answer, robot, now))
        return of_all(self._said)

    def _on_answer(self, robot: str, asked: float, done: Any) -> None:
        if done.cancelled() or self._said[robot].good is not None:
            return
        response = done.result()
        text: Text = response.message.removesuffix(CALL_AGAIN) or Phrase.of(
            f'outcomes.{"done" if response.success else "refused"}')
        unfinished = self._unfinished(response)
        which = 1 if unfinished else 0 if response.success else 2
        if which < len(self._words):
            text = self._words[which]
        if unfinished:
            self._said[robot] = CommandOutcome(text, None)
            self._due[robot], self._give_up[robot] = asked + _AGAIN, math.inf
        else:
            self._said[robot] = CommandOutcome(text, response.success)
        self._answered()


def of_all(said: Mapping[str, CommandOutcome]) -> CommandOutcome:
    """Return what came of all in one sentence; it is good once that is true of each."""
    together: dict[Text, list[str]] = {}
    for robot, outcome in said.items():
        together.setdefault(outcome.text, []).append(robot)
    texts = [Phrase.of('outcomes.of_robots', robots=', '.join(robots), said=text)
             if any(robots) else text for text, robots in together.items()]
    return CommandOutcome(
        reduce(lambda first, then: Phrase.of('outcomes.both', first=first, then=then), texts)
        if texts else '',
        _all(outcome.good for outcome in said.values()))


def _all(goods: Iterable[bool | None]) -> bool | None:
    found = {*goods}
    return None if None in found else False not in found
