# SPDX-License-Identifier: Apache-2.0

"""Linear equations of stochastic shortest paths on the known states."""

from __future__ import annotations

from mnm_ros.core.model.arrays import Floats, Indices
import numpy as np

_DENSE = 150
"""States up to which dense equations are solved sooner than sparse ones."""


class Equations:
    """
    ``v = cost + moves v`` for substochastic ``moves`` between ``n`` states, factorised once.

    :param n: number of states.
    :param origins, ends, masses: the entries of ``moves``; several for one place add up.
    :raises numpy.linalg.LinAlgError: if there is no unique solution.
    """

    def __init__(self, n: int, origins: Indices, ends: Indices, masses: Floats) -> None:
        self._dense = n <= _DENSE
        if self._dense:
            moves = np.bincount(origins * n + ends, masses, n * n).reshape(n, n)
            self._matrix = np.eye(n) - moves
            return
        # Imported on first use: few explorations have so many states, and every node starts.
        from scipy.sparse import csc_matrix
        from scipy.sparse.linalg import splu
        diagonal = np.arange(n)
        matrix = csc_matrix((np.concatenate([np.ones(n), -masses]), (
            np.concatenate([diagonal, origins]), np.concatenate([diagonal, ends]))), (n, n))
        try:
            self._factors = splu(matrix)
        except RuntimeError as error:
            raise np.linalg.LinAlgError(str(error)) from None

    def values(self, costs: Floats) -> Floats:
        """Return ``v`` by state."""
        if self._dense:
            return np.asarray(np.linalg.solve(self._matrix, costs), dtype=np.float64)
        solution: Floats = self._factors.solve(costs)
        return solution

    def visits(self, origin: int) -> Floats:
        """Return the expected visits to each state of a path from ``origin`` on."""
        first = np.zeros(self._matrix.shape[0] if self._dense else self._factors.shape[0])
        first[origin] = 1.0
        if self._dense:
            return np.asarray(np.linalg.solve(self._matrix.T, first), dtype=np.float64)
        solution: Floats = self._factors.solve(first, 'T')
        return solution
