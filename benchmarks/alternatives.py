# SPDX-License-Identifier: Apache-2.0

"""
CMPs that are told from the true one with little evidence, but have one more state within reach.

In an alternative a state that was never seen may follow any pair of a member and an action, and
one policy reaches it from home within ``L`` expected steps. Executions ``N`` of the pairs tell it
from the truth with ``sum of N KL(P || Q)`` nats. For given ``N``, little of this is searched for
each pair behind which the new state may be: with a multiplier ``c`` for the steps from home, each
row ``Q`` of the policy is the minimiser of ``N KL(P || Q) + c d Q v``, where ``d`` are the
expected visits and ``v`` the steps to go of the policy in the alternative. There may be less than
is found.
"""

from __future__ import annotations

from dataclasses import dataclass

from growth_truth import Truth
from mnm_ros.core.model.counts import Floats, Indices
from mnm_ros.core.model.problem import RESET
from mnm_ros.simulation.cmp import TableCmp
from mnm_ros.simulation.ground_truth import reachable_states
import numpy as np

_NEW = 2 ** 70    # no other state has this number

_ROOM = 1e-4    # of the radius, by which the new state is nearer than it
_FEW = 1e-2    # executions of a pair, at least: with none, all would be free
_MANY = 1e9    # executions of RESET, which is known
_NEWTON_STEPS = 7
_UNVISITED = 1e-9
_LEAK = 1e-9    # lets every way end
_LEAST_GAIN = 1e-6    # in steps, for which an action is replaced


@dataclass(frozen=True)
class Alternatives:
    """
    Some CMPs, each by the policy that reaches the new state there.

    :ivar moves: the action by member, as [alternative, member].
    :ivar rows: where it leads, as [alternative, member, slot], the new state last.
    :ivar evidence: nats of one execution of these, as [alternative, member].
    """

    moves: Indices
    rows: Floats
    evidence: Floats

    def nats(self, executions: Floats) -> Floats:
        """Return what executions, as [member, action], tell, by alternative."""
        members = np.arange(self.moves.shape[1])
        played: Floats = np.where(self.moves == RESET, 0.0, executions[members, self.moves])
        told: Floats = (self.evidence * played).sum(axis=1)
        return told


class Search:
    """
    The search for alternatives, which goes on where it ended.

    Each pair is tried with the shortest way to it, and a RESET off that way, which hardly ever
    needs a state that the alternative has put out of reach; and with ways that change.

    :ivar pairs: how many of the former there are; they come first.

    :param truth: the CMP, and the shortest ways between its members.
    """

    def __init__(self, truth: Truth) -> None:
        self._truth = truth
        self._target = truth.radius * (1 - _ROOM)
        self._chances, self._places = _table(truth)
        self._reset = truth.cmp.actions    # its place among the actions
        short, own = _ways(truth, self._chances, self._places), truth.choices.T
        starts = [(ways, *_nearest(truth, ways, self._chances, self._places))
                  for ways in (short, own)]
        self._moves = np.concatenate([ways[pairs[:, 0]] for ways, pairs, _ in starts])
        self._moves[self._moves == RESET] = self._reset
        pairs, chances = (np.concatenate([start[part] for start in starts]) for part in (1, 2))
        here = np.arange(len(pairs)), pairs[:, 0]
        self._moves[here] = pairs[:, 1]
        self._rows = self._of_policy(self._chances)
        self._rows[here] *= (1 - chances)[:, None]
        self._rows[(*here, -1)] = chances
        self._first = self._moves.copy(), self._rows.copy()
        self._keeps = np.zeros(self._moves.shape, dtype=bool)
        self._keeps[here] = True
        self.pairs = len(starts[0][1])
        self._keeps[:self.pairs] = True
        self._multipliers = np.zeros(len(pairs))    # their logarithms

    def first(self) -> Alternatives:
        """Return those in which one pair leads to the new state, and all else is as it is."""
        moves, rows = self._first
        chances = self._chances[np.arange(moves.shape[1]), moves]
        return self._made(moves, rows, _divergence(chances, rows))

    def _made(self, moves: Indices, rows: Floats, evidence: Floats) -> Alternatives:
        return Alternatives(np.where(moves == self._reset, RESET, moves), rows, evidence)

    def _of_policy(self, table: np.ndarray) -> np.ndarray:
        """Return the part of a table, as [member, action, ...], that the policies are made of."""
        chosen: np.ndarray = table[np.arange(len(table)), self._moves]
        return chosen

    def least(self, executions: Floats, sweeps: int) -> Alternatives:
        """
        Return those with the least evidence that were found, two for each pair.

        :param executions: as [member, action].
        :param sweeps: over all rows and multipliers.
        """
        times = np.append(np.maximum(executions, _FEW), np.full((len(executions), 1), _MANY), 1)
        least = np.full(len(self._moves), np.inf)
        moves, rows = (first.copy() for first in self._first)
        evidence = self.first().evidence
        for _ in range(sweeps):
            steps, visits = self._chain()
            nats = self._evidence()
            total = (self._of_policy(times) * nats).sum(axis=1)
            better = (steps[:, 0] <= self._truth.radius) & (total < least)
            least[better], evidence[better] = total[better], nats[better]
            moves[better], rows[better] = self._moves[better], self._rows[better]
            self._multipliers += np.clip(3 * np.log(steps[:, 0] / self._target), -1, 1)
            self._improve(times, steps, visits)
        return self._made(moves, rows, evidence)

    def _chain(self) -> tuple[Floats, Floats]:
        """Return the steps to go and the visits from home, as [alternative, member]."""
        count = len(self._truth.members)
        places = self._of_policy(self._places)[:, :, :-1]
        chain = np.zeros((*self._moves.shape, count + 1))
        batch, member, _ = np.indices(places.shape)
        np.add.at(chain, (batch, member, places), self._rows[:, :, :-1])
        outside = chain[:, :, count]    # where RESET is played
        chain[:, :, 0] += outside
        inverse = np.linalg.inv(np.eye(count) - (1 - _LEAK) * chain[:, :, :count])
        return (inverse @ (1 + outside)[:, :, None])[:, :, 0], inverse[:, 0]

    def _evidence(self) -> Floats:
        return _divergence(self._of_policy(self._chances), self._rows)

    def _improve(self, times: Floats, steps: Floats, visits: Floats) -> None:
        """Replace the rows of the policies, and actions where others cost less."""
        weights = np.exp(self._multipliers)[:, None] * np.maximum(visits, _UNVISITED)
        values = np.append(steps, 1 + steps[:, :1], axis=1)
        rows, costs = [], []
        for action in range(times.shape[1]):
            chances, ahead = self._chances[:, action], values[:, self._places[:, action]]
            row = _tilted(chances, ahead * (weights / times[:, action])[:, :, None])
            rows.append(row)
            costs.append(times[:, action] * _divergence(chances, row) / weights
                         + (row[:, :, :-1] * ahead[:, :, :-1]).sum(axis=2))
        cost = np.stack(costs, axis=2)
        batch, member = np.indices(self._moves.shape)
        cheapest = cost.argmin(axis=2)
        gain = cost[batch, member, self._moves] - cost[batch, member, cheapest]
        changed = (gain > _LEAST_GAIN) & ~self._keeps
        self._moves = np.where(changed, cheapest, self._moves)
        row = np.stack(rows, axis=2)[batch, member, self._moves]
        self._rows = np.where(changed[:, :, None], row, (self._rows + row) / 2)

    def is_one(self, found: Alternatives, number: int) -> bool:
        """Return whether the new state is within reach there, by the definition of that."""
        cmp, members = self._truth.cmp, self._truth.members
        inside = set(members)
        border = {after for state in members for action in range(cmp.actions)
                  for after, _ in cmp.transitions(state, action)}
        table = {(state, action): cmp.transitions(state, action)
                 for state in inside | border for action in range(cmp.actions)}
        for row in np.flatnonzero(found.evidence[number]).tolist():
            pair = members[row], int(found.moves[number, row])
            chances = found.rows[number, row].tolist()
            ends = (*(after for after, _ in cmp.transitions(*pair)), _NEW)
            table[pair] = tuple(zip(ends, (*chances[:len(ends) - 1], chances[-1])))
        return _NEW in reachable_states(TableCmp(cmp.start, cmp.actions, table),
                                        self._truth.radius)


def _ways(truth: Truth, chances: Floats, places: Indices) -> Indices:
    """Return the shortest ways from home, as [target, member]; RESET off them, and at the end."""
    ways = np.full(truth.choices.shape, RESET)
    for target in range(len(ways)):
        waiting, seen = [0], {target, len(ways)}
        while waiting:
            row = waiting.pop()
            if row not in seen:
                seen.add(row)
                ways[target, row] = action = truth.choices[row, target]
                waiting += places[row, action][chances[row, action] > 0].tolist()
    return ways


def _nearest(truth: Truth, ways: Indices, chances: Floats,
             places: Indices) -> tuple[Indices, Floats]:
    """
    Return the pairs behind which the new state may be, and the least chance of it there.

    With ``d`` expected steps to a member, and ``r`` from where its action leads back to it, with a
    RESET where that is off the way, a state that follows with chance ``p`` is reached in
    ``d + (1 + (1 - p) r) / p`` expected steps. That is ``L`` with ``p = (1 + r) / (L - d + r)``.

    :returns: As [pair, member and action] and [pair].
    """
    count, times = len(ways), truth.times
    least = np.ones((count, truth.cmp.actions))
    for row, way in enumerate(ways):
        away = 1 + times[0, row]
        back = np.append(np.where(way == RESET, away, times[:, row]), away)
        back[row] = 0.0
        steps = (chances[row] * back[places[row]]).sum(axis=1)[:-1]
        room = truth.radius * (1 - _ROOM) - times[0, row] + steps
        least[row] = (1 + steps) / np.maximum(room, 1e-9)
    pairs = np.argwhere(least < 1)
    return pairs, least[tuple(pairs.T)]


def _table(truth: Truth) -> tuple[Floats, Indices]:
    """Return chances and rows of what follows, as [member, action, slot], RESET and new last."""
    cmp, outside = truth.cmp, len(truth.members)
    index = {state: row for row, state in enumerate(truth.members)}
    ends = [[cmp.transitions(state, action) for action in (*range(cmp.actions), RESET)]
            for state in truth.members]
    slots = max(len(each) for moves in ends for each in moves) + 1
    chances = np.zeros((outside, cmp.actions + 1, slots))
    places = np.full(chances.shape, outside)
    for row, moves in enumerate(ends):
        for action, each in enumerate(moves):
            for slot, (after, chance) in enumerate(each):
                chances[row, action, slot] = chance
                places[row, action, slot] = index.get(after, outside)
    return chances, places


def _tilted(chances: Floats, prices: Floats) -> Floats:
    """
    Return the rows ``Q`` that minimise ``KL(P || Q) + Q price``.

    ``Q`` is ``P / (k + price)``; with ``k = 0`` mass may be left for the new state, which is free.

    :param chances: ``P``, as [member, slot].
    :param prices: as [alternative, member, slot].
    """
    chances, prices = chances[:, :-1], prices[:, :, :-1]
    shift = np.maximum(0.0, 1 - (chances * prices).sum(axis=2))    # no more than k, by convexity
    for _ in range(_NEWTON_STEPS):
        inverse = 1 / (shift[:, :, None] + prices)
        mass, slope = (chances * inverse).sum(axis=2), (chances * inverse ** 2).sum(axis=2)
        shift = np.maximum(0.0, shift + mass * (mass - 1) / slope)
    rows = chances / (shift[:, :, None] + prices)
    rows /= np.maximum(rows.sum(axis=2, keepdims=True), 1.0)
    return np.append(rows, np.maximum(0.0, 1 - rows.sum(axis=2, keepdims=True)), axis=2)


def _divergence(chances: Floats, rows: Floats) -> Floats:
    """Return ``KL(P || Q)``, along the last axis."""
    shares = np.where(chances > 0, chances / np.maximum(rows, 1e-300), 1.0)
    nats: Floats = np.maximum(0.0, (chances * np.log(shares)).sum(axis=-1))
    return nats
