# SPDX-License-Identifier: Apache-2.0

"""
The knowledge, written in each of the formats.

A bag is a transition log as an MCAP file, which ``ros2 bag``, Foxglove and others open. It has the
topics of the steps in their usual layouts, in the namespace of the robot that has made a step if
there are several:

- ``action``, ``[seq, action]``: every action that was begun, those that were broken off, too;
- ``state``, ``[seq, state]``: where it ended; ``[-1, state]`` if the robot was moved there;
- ``status``: ``place lost`` where the robot could be anywhere.

What the exploration was asked for is the metadata record ``exploration``, each value as JSON.

A log has no times. The stamp of an input is as many seconds after 1970 as there are inputs up to
it, so that the time in a plot is the ``number`` of the table ``log-csv``; ``seq`` is this number,
too. An action has the stamp half a second before.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
import csv
import io
import json
from typing import Any

from mnm_ros.core.errors import how_to_install
from mnm_ros.core.inputs import (
    DeclarationInput,
    ImproveInput,
    Interruption,
    LookInput,
    Observation,
    PLACING,
    Preference,
    Relocation,
    WorkObservation,
)
from mnm_ros.core.knowledge.knowledge import StateKind, Transition
from mnm_ros.core.model.policy import Policy
from mnm_ros.core.model.problem import RESET
from mnm_ros.export.contents import ExportContents, route
from mnm_ros.export.libraries import library
from mnm_ros.view.scene import KINDS


def as_json(learnt: ExportContents) -> bytes:
    """Return everything as one JSON object."""
    return (json.dumps({
        **overview(learnt),
        'states': [state_row(learnt, state) for state in learnt.knowledge.kinds],
        'transitions': [
            {**_leg(learnt, leg), 'count': leg.times, 'probability': leg.probability}
            for leg in learnt.knowledge.transitions],
        'policies': policy_rows(learnt),
    }, indent=1, ensure_ascii=False) + '\n').encode()


def overview(learnt: ExportContents) -> dict[str, Any]:
    """Return what is said once, for JSON."""
    return {'source': learnt.source, 'steps': learnt.knowledge.steps,
            'home': learnt.knowledge.home, 'limit': learnt.knowledge.limit,
            'actions': list(learnt.description.actions) or None}


def state_row(learnt: ExportContents, state: int) -> dict[str, Any]:
    """Return what is known of a state, for JSON; null is what is not known."""
    found = learnt.knowledge.state(state)
    assert found is not None
    x, y = found.place or (None, None)
    told = found.told
    return {'state': state, 'name': found.name, 'x': x, 'y': y, 'kind': found.kind.value,
            'visits': found.visits, 'expected_steps': found.expected_steps,
            'trust': told and told.trust.value, 'at_most_steps': told and told.at_most_steps}


def policy_rows(learnt: ExportContents) -> list[dict[str, Any]]:
    """Return the policies to the known states, for JSON; without those that are not at hand."""
    known = learnt.knowledge
    return [policy_row(learnt, known.policies[state]) for state in known.known
            if state in known.policies]


def policy_row(learnt: ExportContents, policy: Policy) -> dict[str, Any]:
    """Return a policy, its route and what it takes, for JSON."""
    known = learnt.knowledge
    legs = route(known, policy)
    return {
        'to': policy.target, 'expected_steps': known.steps_to(policy.target),
        'over_limit': known.over_limit(policy.target), 'horizon': policy.horizon,
        'route': legs and [
            {**_leg(learnt, leg), 'probability': leg.probability} for leg in legs],
        'states': policy.states, 'steps': policy.actions}


def _leg(learnt: ExportContents, leg: Transition) -> dict[str, Any]:
    return {'state': leg.state, 'action': leg.action,
            'action_name': learnt.description.action_name(leg.action, leg.state),
            'next': leg.following}


def transitions_csv(learnt: ExportContents) -> bytes:
    """Return the counted transitions."""
    return _csv(('state', 'action', 'action_name', 'next', 'count', 'probability'), (
        (leg.state, leg.action, learnt.description.action_name(leg.action, leg.state),
         leg.following, leg.times, f'{leg.probability:.6g}')
        for leg in learnt.knowledge.transitions))


def states_csv(learnt: ExportContents) -> bytes:
    """Return the states."""
    rows = [state_row(learnt, state) for state in learnt.knowledge.kinds]
    names = ('state', 'name', 'x', 'y', 'kind', 'visits', 'expected_steps', 'trust',
             'at_most_steps')
    return _csv(names, ([row[name] for name in names] for row in rows))


_KINDS = {Observation: 'observed', Relocation: 'relocated', Interruption: 'interrupted',
          DeclarationInput: 'declared', Preference: 'preferred', WorkObservation: 'worked',
          LookInput: 'look', ImproveInput: 'improved'}


def log_csv(learnt: ExportContents) -> bytes:
    """
    Return everything that the exploration has learnt from, in its order.

    The last columns are the source that has reported the step, and with several robots the one
    that has made it.
    """
    assert learnt.saved is not None
    saved, robots = learnt.saved, bool(learnt.saved.made_by())
    rows: list[tuple[Any, ...]] = []
    before: int | None = None
    for number, made in enumerate(saved.inputs, saved.first + 1):
        step: tuple[Any, ...] = (None, None, None)
        after: int | None = None
        if isinstance(made, Observation):
            step = before, made.action, learnt.description.action_name(made.action, before)
        if isinstance(made, (ImproveInput, Observation, Preference, Relocation)):
            after = made.state
        if isinstance(made, WorkObservation):
            step = made.state, made.action, learnt.description.action_name(made.action, made.state)
            after = made.after
        if isinstance(made, LookInput) and made.state is not None:
            step = made.state, made.action, learnt.description.action_name(made.action, made.state)
        source = made.source if isinstance(made, (Observation, WorkObservation)) else None
        rows.append((number, _KINDS[type(made)], *step, after, source,
                     *([made.robot or None] if robots else [])))
        before = after if isinstance(made, PLACING) else before
    return _csv(('number', 'kind', 'state', 'action', 'action_name', 'next', 'source',
                 *(['robot'] if robots else [])), rows)


def graphml(learnt: ExportContents) -> bytes:
    """Return the graph of states for Gephi, yEd, Cytoscape and networkx, without RESET."""
    networkx = library('networkx', 'apt install python3-networkx, or pip install networkx')
    graph = networkx.MultiDiGraph(source=learnt.source, steps=learnt.knowledge.steps)
    for state in learnt.knowledge.kinds:
        row = {**state_row(learnt, state), 'label': learnt.description.label(state)}
        graph.add_node(str(state), **{
            name: value for name, value in row.items() if value is not None and name != 'state'})
    for leg in learnt.knowledge.transitions:
        if leg.action != RESET:
            graph.add_edge(str(leg.state), str(leg.following), action=leg.action,
                           label=learnt.description.action_name(leg.action, leg.state),
                           count=leg.times, probability=leg.probability, weight=leg.probability)
    written = io.BytesIO()
    networkx.write_graphml_xml(graph, written)
    return written.getvalue()


_LIGHT = '80'    # how far a colour covers the ground, of ff, so that black can be read on it


def dot(learnt: ExportContents) -> bytes:
    """Return the graph of states for Graphviz, without RESET."""
    lines = ['digraph learnt {', '  node [style=filled];']
    for state, kind in learnt.knowledge.kinds.items():
        shape = 'doublecircle' if kind is StateKind.HOME else 'ellipse'
        lines.append(f'  {_quoted(str(state))} [label={_quoted(learnt.description.label(state))}, '
                     f'fillcolor="{KINDS[kind.value].colour}{_LIGHT}", shape={shape}, '
                     f'class={kind.value}];')
    for leg in learnt.knowledge.transitions:
        if leg.action != RESET:
            name = learnt.description.action_name(leg.action, leg.state)
            label = f'{name} {leg.probability:.0%}'
            lines.append(
                f'  {_quoted(str(leg.state))} -> {_quoted(str(leg.following))} '
                f'[label={_quoted(label)}, penwidth={0.5 + 2 * leg.probability:.2f}];')
    return '\n'.join([*lines, '}', '']).encode()


_FORMULA = tuple("=+-@\t\r\n＝＋－＠'")    # an apostrophe, too, so that one can be taken away


def _csv(head: Sequence[str], rows: Iterable[Sequence[Any]]) -> bytes:
    """Return a table; a text that a spreadsheet would compute gets an apostrophe before it."""
    written = io.StringIO()
    writer = csv.writer(written, lineterminator='\n')
    writer.writerow(head)
    writer.writerows(    # None is left empty
        [f"'{cell}" if isinstance(cell, str) and cell.startswith(_FORMULA) else cell
         for cell in row] for row in rows)
    return written.getvalue().encode()


def _quoted(text: str) -> str:
    text = ' '.join(text.split())
    return '"' + text.replace('\\', '\\\\').replace('"', '\\"') + '"'


_SECOND = 10**9    # ns
_NEXT = '=' * 80    # between two definitions
_NUMBERS = f"""\
std_msgs/MultiArrayLayout layout
int64[] data
{_NEXT}
MSG: std_msgs/MultiArrayLayout
std_msgs/MultiArrayDimension[] dim
uint32 data_offset
{_NEXT}
MSG: std_msgs/MultiArrayDimension
string label
uint32 size
uint32 stride
"""


def log_mcap(learnt: ExportContents) -> bytes:
    """Return everything that the exploration has learnt from, in its order."""
    writing = library(
        'mcap_ros2.writer', how_to_install('bags', 'pip install mcap-ros2-support'))
    saved = learnt.saved
    assert saved is not None
    written = io.BytesIO()
    writer = writing.Writer(written)
    writer.add_metadata('exploration', {
        name: json.dumps(value) for name, value in saved.identity.items()})
    numbers = writer.register_msgdef('std_msgs/msg/Int64MultiArray', _NUMBERS)
    text = writer.register_msgdef('std_msgs/msg/String', 'string data\n')
    number_of_state = writer.register_msgdef('std_msgs/msg/Int64', 'int64 data\n')
    for number, made in enumerate(saved.inputs, saved.first + 1):
        robot, now = made.robot.strip('/'), number * _SECOND
        before = f'/{robot}/' if robot else '/'
        if isinstance(made, DeclarationInput):
            writer.write_message(
                '/status', text, {'data': json.dumps(made.declaration.to_json())}, now)
            continue
        if isinstance(made, WorkObservation):
            writer.write_message(f'{before}work', numbers, {'data': [
                made.state, made.action, *(() if made.after is None else (made.after,))]}, now)
            continue
        if isinstance(made, Preference):
            writer.write_message('/goal', number_of_state, {'data': made.state}, now)
            continue
        if isinstance(made, ImproveInput):
            asked = () if made.state is None else (made.state,)
            writer.write_message('/improve', numbers, {'data': asked}, now)
            continue
        if isinstance(made, LookInput):
            writer.write_message('/look', numbers, {'data': made.pair or ()}, now)
            continue
        begun = made.action if isinstance(made, Observation) else made.asked
        if begun is not None:
            writer.write_message(
                f'{before}action', numbers, {'data': (number, begun)}, now - _SECOND // 2)
        if isinstance(made, Interruption):
            writer.write_message(f'{before}status', text, {'data': 'place lost'}, now)
        else:
            seq = number if isinstance(made, Observation) else -1
            writer.write_message(f'{before}state', numbers, {'data': (seq, made.state)}, now)
    writer.finish()
    return written.getvalue()
