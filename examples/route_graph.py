# SPDX-License-Identifier: Apache-2.0

"""
Learn to explore the places of a nav2 route graph, and to write what was learnt as such a graph.

Run ``python3 examples/route_graph.py``, without ROS. It writes ``route.geojson`` and explores it
in simulation. ``mnm_ros run route_driver`` drives a robot along the same file.
"""

import json
from pathlib import Path
import sys

sys.path.append(str(Path(__file__).resolve().parents[1]))    # a clone that is not installed

from mnm_ros import explore, export_as, load_scenario, Simulator  # noqa: E402

PLACES = {'dock': (0, 0), 'hall': (3, 0), 'kitchen': (3, 4), 'office': (7, 0), 'lab': (7, 4)}
PASSAGES = [('dock', 'hall'), ('hall', 'kitchen'), ('hall', 'office'), ('kitchen', 'lab'),
            ('office', 'lab')]


def route_graph() -> str:
    """Return the graph as nav2's route server reads it, with an edge in each direction."""
    ids = {name: number for number, name in enumerate(PLACES)}
    features = [{'type': 'Feature', 'geometry': {'type': 'Point', 'coordinates': PLACES[name]},
                 'properties': {'id': ids[name], 'frame': 'map', 'metadata': {'name': name}}}
                for name in PLACES]
    edges = [*PASSAGES, *((end, start) for start, end in PASSAGES)]
    features += [{'type': 'Feature',
                  'geometry': {'type': 'MultiLineString',
                               'coordinates': [[PLACES[start], PLACES[end]]]},
                  'properties': {'id': 100 + number, 'startid': ids[start], 'endid': ids[end]}}
                 for number, (start, end) in enumerate(edges)]
    return json.dumps({'type': 'FeatureCollection', 'features': features})


def main() -> None:
    # %% A graph is a scenario: a place is a state, and an action takes an edge away from there.
    Path('route.geojson').write_text(route_graph())
    world = load_scenario('route.geojson')

    # %% The graph says where edges lead, so that each edge is tried a few times only.
    result = explore(Simulator(world, seed=1).step, actions=world.actions, radius=5.0,
                     declared=world.graph.declaration)
    description = world.graph.describe(world.start)
    names = [description.names[state] for state in result.known]
    print(f'{len(names)} places after {result.exploration.steps} steps: {", ".join(names)}')

    # %% How often each edge was passed is its cost for nav2's route server.
    Path('learnt.geojson').write_bytes(export_as(result, 'nav2-route', description))
    print('learnt.geojson has the edges with their costs')


if __name__ == '__main__':
    main()
