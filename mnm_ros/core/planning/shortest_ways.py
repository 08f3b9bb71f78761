# SPDX-License-Identifier: Apache-2.0

"""Shortest ways over edges that are given as arrays."""

from __future__ import annotations

from typing import Any

from mnm_ros.core.model.counts import Floats, Indices
import numpy as np


def cheapest_edges(costs: Floats, origins: Indices, ends: Indices) -> Indices:
    """Return the places of the edges of which none with the same ends costs less, in order."""
    both = origins * (1 + ends.max(initial=0)) + ends    # to sort by one takes less time
    order = np.lexsort((costs, both))
    first = np.ones(len(order), dtype=bool)
    first[1:] = both[order[1:]] != both[order[:-1]]
    found: Indices = order[first]
    return found


def least_costs(size: int, costs: Floats, origins: Indices, ends: Indices, **options: Any) -> Any:
    """Return what ``scipy.sparse.csgraph.dijkstra`` says of a graph with these edges."""
    # Imported on first use, see mnm_ros/core/libraries.py.
    from scipy.sparse.csgraph import dijkstra
    return dijkstra(sparse_graph(size, costs, origins, ends), **options)


def sparse_graph(size: int, costs: Floats, origins: Indices, ends: Indices) -> Any:
    """
    Return the graph with these edges, of which no two have the same ends, as scipy has it.

    Sorted here, they are the matrix as it is kept: to have scipy sort them takes longer than to
    find the ways.
    """
    from scipy.sparse import csr_matrix
    order = np.lexsort((ends, origins))
    rows = np.searchsorted(origins[order], np.arange(size + 1))
    return csr_matrix((costs[order], ends[order].astype(np.int32), rows.astype(np.int32)),
                      (size, size))
