# SPDX-License-Identifier: Apache-2.0

"""
Which places of a graph can be reached from which others, by whatever number of edges.

``PlaceGraph`` chooses home by this, and reports the places that are cut off.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:    # scipy takes longer to import than all else of a node that has no graph
    from scipy.sparse import csr_matrix

_CANDIDATES = 400    # places that are tried as the centre


class Connectivity:
    """
    The connections between places.

    :param places: the numbers of all of them.
    :param ways: the start and the end of each edge that leads to another place.
    """

    def __init__(self, places: Collection[int], ways: Iterable[tuple[int, int]]) -> None:
        self._numbers = {place: number for number, place in enumerate(places)}
        self._ways = ways

    @cached_property
    def largest_part(self) -> Sequence[int]:
        """Return the largest set of places each of which leads to all others of it."""
        from scipy.sparse.csgraph import connected_components
        _, part = connected_components(self._matrix, connection='strong')
        largest = np.bincount(part).argmax()
        return [place for place, each in zip(self._numbers, part) if each == largest]

    def centre(self, candidates: Sequence[int]) -> int:
        """
        Return the candidate whose farthest place is the fewest edges away.

        :param candidates: the first of them counts; of many, some are left out.
        """
        candidates = candidates[::-(-len(candidates) // _CANDIDATES)]
        hops = self._hops(candidates)
        return candidates[int(np.where(np.isfinite(hops), hops, 0.0).max(axis=1).argmin())]

    def cut_off(self, home: int) -> tuple[frozenset[int], frozenset[int]]:
        """Return the places that home cannot reach, and those that cannot reach home."""
        from scipy.sparse.csgraph import breadth_first_order
        reached, returning = (
            {*breadth_first_order(matrix, self._numbers[home],
                                  return_predecessors=False).tolist()}
            for matrix in (self._matrix, self._matrix.T.tocsr()))
        return (frozenset(place for place, number in self._numbers.items()
                          if number not in reached),
                frozenset(place for place, number in self._numbers.items()
                          if number not in returning))

    def _hops(self, starts: Sequence[int]) -> np.ndarray:
        """Return by start and place how many edges are between them at least."""
        from scipy.sparse.csgraph import shortest_path
        return np.asarray(shortest_path(
            self._matrix, method='D', unweighted=True,
            indices=[self._numbers[start] for start in starts]))

    @cached_property
    def _matrix(self) -> csr_matrix:
        from scipy.sparse import csr_matrix
        size = len(self._numbers)
        rows, columns = ([self._numbers[each] for each in ends] for ends in zip(*self._ways))
        return csr_matrix((np.ones(len(rows)), (rows, columns)), (size, size))
