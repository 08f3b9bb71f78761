# SPDX-License-Identifier: Apache-2.0

"""What was learnt: print the policies, or the way to one state, or write it for other programs."""

from __future__ import annotations

import argparse
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
import json
from pathlib import Path
import sys
from typing import Any, TYPE_CHECKING

from mnm_ros.console.arguments import add_source, explained, parser, split
from mnm_ros.core.errors import CheckpointError, ExportError, InvalidValueError, NoAnswerError
from mnm_ros.core.plug_ins import installed
from mnm_ros.core.progress.trust import PolicyTrust, Trust
from mnm_ros.export.formats import Format, FORMATS, named
from mnm_ros.files import user_path, write_output
from mnm_ros.places.rmf_lanes import requested, REQUESTS

if TYPE_CHECKING:
    from mnm_ros.core.model.policy import Policy
    from mnm_ros.export.contents import ExportContents
    from mnm_ros.export.lane_requests import FleetLanes
    from mnm_ros.places.place_graph import PlaceGraph
    from rich.console import Console, RenderableType
    from rich.table import Table

ROUTE_SERVER = 'route_server/DynamicEdgesScorer/adjust_edges'
"""As ``nav2_route/src/plugins/edge_cost_functions/dynamic_edges_scorer.cpp`` names it."""

_SAID = [trust.value for trust in (
    Trust.KEPT, Trust.CERTIFIED, Trust.DOUBTED, Trust.ASSUMED)]
_WIDE = 200    # columns where the output is no terminal


def policies(arguments: Sequence[str], program: str) -> int:
    """Print a table of all policies or one route; 1 if there is none."""
    words, ros_arguments = split(arguments)
    made = parser(program, 'Print the policy to each known state with its expected steps, '
                  'estimated from the counts; or the way to one state.')
    add_source(made)
    made.add_argument('state', metavar='STATE', nargs='?',
                      help='the id or the name of a known state (default: all known states)')
    made.add_argument('--json', action='store_true', help='print a JSON object instead')
    given = made.parse_args(words)

    from mnm_ros.command.source import find
    try:
        learnt = find(given, ros_arguments, target=given.state)
        chosen = _chosen(learnt, given.state)
    except (CheckpointError, NoAnswerError, ValueError) as error:
        print(f'{program}: {error}', file=sys.stderr)
        return 1
    if given.json:
        print(json.dumps(_json(learnt, chosen), separators=(',', ':')), flush=True)
    else:
        console = _console()
        for part in _route(learnt, chosen) if chosen is not None else _table(learnt):
            console.print(part)
    return 0


def _chosen(learnt: ExportContents, target: str | None) -> Policy | None:
    """Return the policy that is asked for; None for all. ValueError says why there is none."""
    state = None if target is None else learnt.description.state(target)
    known = learnt.knowledge
    policy = None if state is None else known.policies.get(state)
    if not known.known and policy is None and (
            state is not None or len(known.trust) < 2):    # home is one
        raise InvalidValueError(
            f'{learnt.source} has no hypothesis yet: {len(known.kinds)} states '
            f'were seen in {known.steps:,} steps')
    if state is not None and policy is None:
        from mnm_ros.language import ENGLISH, phrase
        kind = known.kinds.get(state)
        meaning = phrase(f'meanings.{kind.value if kind else "unmet"}', ENGLISH)
        raise InvalidValueError(
            f'no policy to state {learnt.description.name(state)} was told; {meaning}')
    return policy


def _console() -> Console:
    from rich.console import Console
    terminal = sys.stdout.isatty()
    return Console(width=None if terminal else _WIDE, highlight=False, markup=False, emoji=False)


def _grid(*columns: str) -> Table:
    from rich.table import Table
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style='dim')
    for name in columns:
        numeric = name in ('expected', 'share', 'step')
        table.add_column(name, justify='right' if numeric else 'left', no_wrap=numeric,
                         overflow='fold')
    return table


def _table(learnt: ExportContents) -> Iterator[RenderableType]:
    from mnm_ros.core.knowledge.knowledge import NO_ONE_NUMBER, StateKind
    from mnm_ros.export.contents import in_words, route
    from mnm_ros.language import ENGLISH, phrase
    from mnm_ros.view.words import trust_words
    yield _head(learnt)
    table = _grid('state', 'expected', 'route, if all goes well', '')
    known = learnt.knowledge
    shown = known.known or known.of(StateKind.HOME, StateKind.CERTIFIED)
    for state in shown:
        policy = known.policies.get(state)
        legs = route(known, policy) if policy is not None else None
        way = 'home' if state == known.home else in_words(
            learnt.description, legs) if legs else '-'
        table.add_row(learnt.description.name(state),
                      f'{_steps(known.steps_to(state))}{_time(known.trust.get(state))}', way,
                      'over the limit' if known.over_limit(state) else _trust(learnt, state))
    yield table
    if known.known and not known.revising:
        yield NO_ONE_NUMBER
    if known.known and not known.policies:
        yield ('There are too many policies to tell all of them: mnm_ros policies STATE asks for '
               'one.')
    others: dict[str, list[str]] = {}
    for state, told in known.trust.items():
        if told.trust is not Trust.PROVEN and state not in shown:
            steps = told.expected_steps
            others.setdefault(trust_words(told), []).append(
                learnt.description.name(state)
                + ('' if steps is None else f' ({_steps(steps)} steps{_time(told)})'))
    for said in sorted(others, key=lambda said: _SAID.index(said.split(',')[0])):
        yield f'{said}: {", ".join(others[said])}'
    for kind in (StateKind.LOST, StateKind.CANDIDATE, StateKind.MET, StateKind.BEYOND):
        states = [learnt.description.name(state) for state in known.of(kind)]
        if states:
            yield f'{phrase(f"meanings.{kind.value}", ENGLISH)}: {", ".join(states)}'


def _trust(learnt: ExportContents, state: int) -> str:
    from mnm_ros.view.words import trust_words
    told = learnt.knowledge.trust.get(state)
    plain = told is None or told.trust is Trust.PROVEN and not told.declared
    return '' if told is None or plain else trust_words(told)


def _head(learnt: ExportContents) -> str:
    from mnm_ros.core.knowledge.knowledge import StateKind
    known = learnt.knowledge
    limit = '' if known.limit is None else f'; the limit is {known.limit:g} expected steps'
    shown = known.known or known.of(StateKind.CERTIFIED)
    found = (f'{"" if known.known else "no hypothesis yet, "}{len(shown)} '
             f'state{"s" * (len(shown) != 1)} {"known" if known.known else "certified"}')
    return f'{learnt.source}: {found} after {known.steps:,} steps{limit}'


def _route(learnt: ExportContents, policy: Policy) -> Iterator[RenderableType]:
    from mnm_ros.export.contents import route
    known = learnt.knowledge
    limit = '' if known.limit is None else f' of at most {known.limit:g}'
    over = ', which is over the limit' if known.over_limit(policy.target) else ''
    trust = _trust(learnt, policy.target)
    over += f' ({trust})' if trust else ''
    said, legs = learnt.description, route(known, policy)
    yield (f'to {said.name(policy.target)}: '
           f'{_steps(known.steps_to(policy.target))} expected steps{limit}{over}')
    if legs is None:
        yield 'It was never seen to arrive.'
        return
    table = _grid('step', 'in', 'play', 'leads to', 'share')
    for number, leg in enumerate(legs, start=1):
        table.add_row(str(number), said.name(leg.state), said.action_name(leg.action, leg.state),
                      said.name(leg.following), f'{leg.probability:.0%}')
    yield table
    yield from _elsewhere(learnt, policy, {leg.state for leg in legs})


def _elsewhere(
        learnt: ExportContents, policy: Policy, on_way: set[int]) -> Iterator[RenderableType]:
    """Yield what is executed after something has gone otherwise than expected."""
    if len(policy.actions) > 1:
        yield (f'What is played depends on the step of the attempt, up to {policy.horizon}; see '
               '--json.')
        return
    said, table = learnt.description, _grid('elsewhere', 'play')
    for state in policy.states:
        if state not in on_way and state != policy.target:
            table.add_row(said.name(state), said.action_name(policy.action(0, state), state))
    if table.row_count:
        yield table
    yield f'After {policy.horizon} steps without arrival, and in all other states: RESET.'


def _steps(steps: float | None) -> str:
    return '-' if steps is None else f'{steps:.2f}'


def _time(told: PolicyTrust | None) -> str:
    from mnm_ros.view.words import in_time
    said = '' if told is None else in_time(told.expected_seconds)
    return said and f', {said}'


def _json(learnt: ExportContents, chosen: Policy | None) -> dict[str, Any]:
    from mnm_ros.core.knowledge.knowledge import StateKind
    from mnm_ros.export.writers import overview, policy_row, policy_rows
    known = learnt.knowledge
    if chosen is not None:
        return {**overview(learnt), **policy_row(learnt, chosen)}
    return {**overview(learnt), 'known': known.known, 'policies': policy_rows(learnt),
            'trust': {str(state): told.trust.value for state, told in known.trust.items()},
            **{kind.value: known.of(kind)
               for kind in (StateKind.CANDIDATE, StateKind.BEYOND, StateKind.LOST)}}


def export(arguments: Sequence[str], program: str) -> int:
    """Write a file, or to the output; 1 if nothing can be written."""
    words, ros_arguments = split(arguments)
    made = parser(program, 'Write states, transitions and policies for other programs.')
    elsewhere = installed('format')
    made.formatter_class = argparse.RawDescriptionHelpFormatter
    made.epilog = '\n'.join([
        'formats:', *(f'  {name:<11} {row.help}' for name, row in FORMATS.items()),
        *(f'  {name:<11} of another package: {found.value}'
          for name, found in elsewhere.items()), '',
        'RESET leads home from everywhere and is left out of the graphs.',
        f'{made.epilog}'])
    add_source(made)
    made.add_argument('--format', choices=(*FORMATS, *elsewhere), default='json',
                      help='one of the formats below (default %(default)s)')
    made.add_argument('--output', '--out', metavar='FILE',
                      type=partial(explained, user_path),
                      help='file to write (default: the standard output)')
    made.add_argument('--follow', nargs='?', const='', metavar='NAME',
                      help='report closed and opened edges of a running explorer until '
                      "Ctrl-C, to nav2's route server, or with rmf and --graph to the fleet "
                      f'adapter (default service {ROUTE_SERVER}, topic {REQUESTS})')
    made.add_argument('--graph', metavar='FILE', type=partial(explained, user_path),
                      help='the explored graph: with nav2-route a GeoJSON, which is written with '
                      'the results for each edge; with rmf a navigation graph or a building file, '
                      'whose closed lanes are written')
    of_rmf = made.add_argument_group('with rmf')
    of_rmf.add_argument('--fleet', metavar='NAME',
                        help='with --graph: the fleet for which lanes are closed')
    of_rmf.add_argument('--level', help='the level of the places (default L1)')
    of_rmf.add_argument('--building', help='the name of the building (default learnt)')
    of_rmf.add_argument('--transform', nargs=4, type=float,
                        metavar=('X', 'Y', 'ROTATION', 'SCALE'),
                        help="the robot's origin in RMF's coordinates in m, the rotation of its "
                        'axes in radians, and the length of its metre (default 0 0 0 1)')
    given = made.parse_args(words)
    frame = {name: tuple(value) if name == 'transform' else value
             for name in ('level', 'building', 'transform')
             if (value := getattr(given, name)) is not None}
    _check(made, given, frame)

    from mnm_ros.command.source import find
    try:
        row = named(given.format)
        graph, options = _options(given, frame)
        if given.follow is not None:
            from mnm_ros.command.follow import check
            check(*(('rmf_fleet_msgs', 'Open-RMF') if given.fleet is not None
                    else ('nav2_msgs', 'nav2')))
        learnt = find(given, ros_arguments, row.log)
        own = requested(given.output, given.fleet) if given.follow is not None else ()
        lanes = None
        if graph is not None and given.fleet is not None:
            from mnm_ros.export.lane_requests import FleetLanes
            lanes = FleetLanes.of(learnt, graph, given.fleet)
        _write(given.output, row.write(learnt, *options) if lanes is None else lanes.request)
        said = _warnings(row, learnt, graph) if lanes is None else lanes.warnings
    except BrokenPipeError:
        raise
    except (OSError, CheckpointError, NoAnswerError, ExportError, InvalidValueError) as error:
        print(f'{program}: {error}', file=sys.stderr)
        return 1
    for sentence in said:
        print(f'{program}: {sentence}', file=sys.stderr)
    if given.follow is not None:
        _follow(given, ros_arguments, learnt, graph if lanes is None else lanes, own)
    return 0


def _check(made: argparse.ArgumentParser, given: argparse.Namespace,
           frame: Mapping[str, object]) -> None:
    """End with an error if options do not go together."""
    of_rmf = given.format == 'rmf'
    if frame and (not of_rmf or given.graph):
        made.error(f'argument --{next(iter(frame))}: expected --format rmf without --graph')
    if given.graph and not of_rmf and given.format != 'nav2-route':
        made.error('argument --graph: expected --format nav2-route or rmf')
    if (given.fleet is not None) != bool(of_rmf and given.graph):
        made.error('argument --fleet: expected with --format rmf and --graph, and only there')
    if given.follow is not None and (given.source or not given.output or not (
            given.fleet or given.format == 'nav2-route')):
        made.error('argument --follow: expected --format nav2-route and --output, or --format '
                   'rmf, --graph, --fleet and --output, without --from')


def _options(given: argparse.Namespace, frame: dict[str, Any],
             ) -> tuple[PlaceGraph | None, list[object]]:
    """Return the graph that was explored, if it is named, and what the writer takes besides."""
    from mnm_ros.export.route_graphs import RmfFrame
    from mnm_ros.places.geojson import read_geojson
    from mnm_ros.places.graph_file import read_graph
    if not given.graph:
        return None, [RmfFrame(**frame)] if frame else []
    if given.fleet is None:
        graph = read_geojson(given.graph)
        return graph, [graph]
    return read_graph(given.graph), []


def _warnings(row: Format, learnt: ExportContents, graph: PlaceGraph | None) -> list[str]:
    from mnm_ros.export import route_graphs
    return route_graphs.warnings(learnt, graph) if row.places else []


def _follow(given: argparse.Namespace, ros_arguments: Sequence[str], learnt: ExportContents,
            graph: PlaceGraph | FleetLanes | None, own: Collection[int]) -> None:
    """
    Report to nav2 or Open-RMF which edges close and open, until Ctrl-C.

    :param graph: that was explored, if it is named; for Open-RMF with the lanes of a fleet.
    :param own: lanes that an earlier run has closed.
    """
    from mnm_ros.command.follow import follow, Receiver, RouteServer
    from mnm_ros.command.follow_fleet import FleetAdapter
    from mnm_ros.export.lane_requests import FleetLanes
    from mnm_ros.export.route_graphs import RouteGraph
    from mnm_ros.subscriptions import Listener
    receiver: Receiver
    with suppress(KeyboardInterrupt), Listener(given.namespace, ros_arguments) as listener:
        if not isinstance(graph, FleetLanes):
            routes = RouteGraph.of(learnt, graph)
            receiver = RouteServer(listener, routes, given.follow or ROUTE_SERVER)
            follow(listener, routes, receiver)
        else:
            receiver = FleetAdapter(listener, graph, given.follow or REQUESTS, given.output, own)
            follow(listener, graph.graph, receiver, graph.within(own))


def _write(path: Path | None, content: bytes) -> None:
    if path is None:
        sys.stdout.buffer.write(content)
        sys.stdout.flush()
    else:
        write_output(path, content)
