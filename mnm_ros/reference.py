# SPDX-License-Identifier: Apache-2.0

"""
Write ``docs/reference.md`` and the files in ``config`` from the declarations in the code.

Run ``python3 -m mnm_ros.reference`` in the source tree after a parameter, an option, a topic, a
service or a figure of diagnostics has changed. It generates the files in ``config`` as a whole,
and in the page what stands between ``<!-- generated: NAME -->`` and ``<!-- end -->``.
"""

from __future__ import annotations

import argparse
import ast
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
import re
import sys
from textwrap import wrap

from mnm_ros import messages
from mnm_ros.core.presets import OPTIONS, PRESETS
from mnm_ros.parameters import is_required, NODES, ParameterSpec, REQUIRED
from mnm_ros.parameters.tables import spec_of
from mnm_ros.topics import DIAGNOSTICS, ROBOT_SIDES, SERVICES, TOPICS
import yaml

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / 'docs' / 'reference.md'

CONFIG = {
    'explore.yaml': (('explorer', 'cmp_sim', 'navigator', 'dashboard'), """\
Parameters of the nodes of explore.launch.py with their defaults. Copy, edit, and start with
  ros2 launch mnm_ros explore.launch.py params_file:=my_robot.yaml
/** stands for any namespace; /robot_1/explorer is the explorer of one robot."""),
    'gym_side.yaml': (('gym_side',), """\
Parameters of gym_side with their defaults:
  ros2 run mnm_ros gym_side --ros-args --params-file my_environment.yaml"""),
    'preflight.yaml': (('preflight',), """\
Parameters of preflight with their defaults:
  ros2 run mnm_ros preflight --ros-args --params-file my_robot.yaml
An entry /**: instead of /**/preflight: and /**/explorer: gives both what they share."""),
    'robot.yaml': (('grid_driver', 'diff_drive_sim'), """\
Parameters of the nodes around a mobile robot with their defaults;
docs/reference/grid_driver.md explains them. robot.launch.py starts them.
If it starts the simulation, it sets what follows from the world.
The entry /** is for explorer, navigator and preflight."""),
    'route.yaml': (('route_driver', 'route_watch'), """\
Parameters of route_driver with their defaults; docs/howto/route_graph.md explains them.
robot.launch.py starts it with graph:=FILE. The entry /** is for explorer, navigator and preflight,
which find out the actions by themselves."""),
}
"""The nodes whose parameters a file in ``config`` lists, and its head."""

OVERRIDES: Mapping[str, Mapping[str, Sequence[tuple[ParameterSpec, object]]]] = {'robot.yaml': {
    '/**': [(ParameterSpec('actions', None, 'as grid_driver numbers its moves'),
             ['east', 'north', 'west', 'south']),
            (ParameterSpec('step_timeout', 0.0, 's, more than a move and a retreat take'), 60.0)],
    '/**/navigator': [
        (ParameterSpec('pause_timeout', 0.0, 's, as long as a step may take'), 60.0)],
}, 'route.yaml': {
    '/**': [(ParameterSpec(
        'step_timeout', 0.0, 's, more than an edge and the way back, or home, take'), 400.0), (
        ParameterSpec('radius', 4.0, 'all places of the graph'), 0.0)],
    '/**/navigator': [
        (ParameterSpec('pause_timeout', 0.0, 's, as long as a step may take'), 400.0)],
}}
"""What a file says besides: for whom, and values that are not the defaults."""

HEADINGS = {
    ('explorer', 'radius'): 'What to learn', ('explorer', 'preset'): 'How to learn it',
    ('explorer', 'step_timeout'): 'The robot', ('explorer', 'autostart'): 'The run',
    ('explorer', OPTIONS[0].name): "Parts and constants; '' and 0 stand for the preset's",
    ('cmp_sim', 'radius'): 'As for the explorer; they define the exploration steps',
    ('cmp_sim', 'latency'): 'Faults to inject', ('cmp_sim', 'record'): 'The run',
    ('navigator', 'step_timeout'): 'The robot, as for the explorer, but the goal fails, no fault',
    ('preflight', 'actions'): 'As for the explorer', ('preflight', 'resets'): 'The check',
    ('navigator', 'pause_timeout'): 'The goal',
    ('grid_driver', 'moves'): 'How it moves', ('grid_driver', 'cell_size'): 'States',
    ('grid_driver', 'reset'): 'RESET', ('grid_driver', 'move_timeout'): 'Limits',
    ('route_driver', 'drive'): 'How it moves', ('route_driver', 'hysteresis'): 'States',
    ('route_driver', 'reset'): 'RESET', ('route_driver', 'move_timeout'): 'Limits',
    ('diff_drive_sim', 'real_time_factor'): 'Time and topics',
    ('diff_drive_sim', 'robot_radius'): 'The robot',
    ('diff_drive_sim', 'latency'): 'What goes wrong',
}
"""Headings in ``config``: each stands before the parameter named."""


_AS_OPTIONS = tuple(spec for spec in map(spec_of, OPTIONS) if not spec.importable)


def files() -> Iterator[tuple[Path, str]]:
    """Yield every generated file with the text that it should have."""
    yield from ((ROOT / 'config' / name, config(name)) for name in CONFIG)
    yield PAGE, re.sub(
        r'(<!-- generated: (.*?) -->\n).*?(?=<!-- end -->)',
        lambda found: f'{found[1]}\n{block(found[2])}\n', PAGE.read_text(encoding='utf-8'),
        flags=re.DOTALL)


def config(name: str) -> str:
    """Return the text of a file in ``config``."""
    nodes, head = CONFIG[name]
    lines = [f'# {line}' for line in head.splitlines()]
    for whom, specs in OVERRIDES.get(name, {}).items():
        lines += ['', f'{whom}:', '  ros__parameters:',
                  *(line for spec, value in specs for line in _setting(spec, value))]
    for node in nodes:
        lines += ['', f'/**/{node}:', '  ros__parameters:']
        for spec in NODES[node]:
            if (node, spec.name) in HEADINGS:
                lines += ['', f'    # {HEADINGS[node, spec.name]}']
            lines += _setting(spec, REQUIRED.get(spec.name, spec.default))
    return re.sub(r'(ros__parameters:\n)\n', r'\1', '\n'.join(lines) + '\n')


def _setting(spec: ParameterSpec, value: object) -> Iterator[str]:
    """Yield the lines for a parameter, its description as a comment that may need several."""
    setting = f'{spec.name}: {yaml.safe_dump(value, default_flow_style=True)}'.split('\n')[0]
    comment = spec.description
    if not all(choice in setting + comment for choice in spec.choices):
        comment += f': {", ".join(spec.choices)}'
    if spec.open_ends or spec.minimum == 1:
        comment += f', {_allowed(spec).split(", ", 1)[1]}'
    if value is REQUIRED.get(spec.name) and is_required(spec):
        comment = f'required: {comment}'
    if spec.optional:    # ROS cannot leave a parameter unset
        quoted = '; quote y, n, on, off' if spec.default is None else ''
        yield f'    # {comment}{quoted}'
        yield f'    # {setting}'
        return
    first = f'    {setting:<23} # '
    for i, line in enumerate(wrap(comment, 99 - len(first))):
        yield (' ' * (len(first) - 2) + '# ' if i else first) + line


def block(name: str) -> str:
    """Return the Markdown of a generated part of the page, by its name."""
    kind, _, which = name.partition(' ')
    if kind == 'parameters':
        return parameters(which)
    if kind == 'topics':
        return table(('topic', 'type', 'QoS', 'from', 'to', 'content'), (
            (f'`{topic.name}`', f'`{topic.type}`', topic.qos.lower().replace('_', ' '),
             _names(topic.publishers), _names(topic.subscribers), topic.content)
            for topic in TOPICS[which]))
    if kind == 'services':
        return table(('service', 'type', 'offered by', 'called by', 'effect'), (
            (f'`{service.name}`', f'`{service.type}`', _names(service.servers),
             _names(service.clients), service.effect) for service in SERVICES))
    if kind == 'diagnostics':
        return table(('key', 'value'), ((f'`{key}`', text) for key, text in DIAGNOSTICS.items()))
    return {'executables': _executables, 'options': _options, 'profiles': _profiles}[kind]()


def table(head: Sequence[str], rows: Iterable[Iterable[str]]) -> str:
    """Return a table in Markdown."""
    lines = [f'| {" | ".join(row)} |\n' for row in (head, *rows)]
    return ''.join((lines[0], '|---' * len(head), '|\n', *lines[1:]))


def parameters(node: str) -> str:
    """Return the table of the parameters of a node; it says which are as of the explorer."""
    return table(('parameter', 'default', 'meaning', 'allowed'), (
        (f'`{spec.name}`',
         'required' if is_required(spec) else 'not set' if spec.optional else
         f"`{str(spec.default).lower() if spec.default != '' else repr('')}`",
         *(('as of `explorer`', '') if node != 'explorer' and spec in NODES['explorer'] else
           ('an [option](#options-of-the-presets)', '') if spec in _AS_OPTIONS else
           (spec.description, '; '.join(filter(None, (
               _range(spec), '*live*' if spec.runtime else
               '*fixed*' if spec.read_only and node == 'explorer' else ''))))))
        for spec in NODES[node]))


def _allowed(spec: ParameterSpec) -> str:
    """Return what is allowed, more briefly than an error message would say it."""
    return re.sub(r'^an? |, such as 4.0|, or \S+ as the preset has it', '', spec.allowed)


def _range(spec: ParameterSpec) -> str:
    """Return what is allowed without the type, which the default shows."""
    return re.sub(r'^(double|integer|string|bool)(, |$)(in |one of )?', '', _allowed(spec))


def _names(nodes: str) -> str:
    """Return nodes for people, to whom an advisor is an explorer, and any robot side will do."""
    names = nodes.replace('explorer advisor', 'explorer').split()
    sides = {*ROBOT_SIDES.split()}
    shown = [f'`{name}`'.replace('`advisor`', '`explorer` with `advisory`')
             for name in names if not sides <= {*names} or name not in sides]
    shown += ['robot sides'] if sides <= {*names} else []
    return 'all nodes' if len(names) == len(NODES) else ', '.join(shown)


def _executables() -> str:
    sources = {node: Path(__file__).parent / 'nodes' / f'{node}.py' for node in NODES}
    return table(('executable', 'what it is'), (
        (f'`{node}`', (ast.get_docstring(ast.parse(path.read_text())) or '').split('\n')[0])
        for node, path in sources.items()))


def _options() -> str:
    head = ('option', *(f'`{preset}`' for preset in PRESETS), 'meaning', 'allowed')
    return table(head, (
        (f'`{option.name}`',
         *(f'`{values[option.name]}`' if values[option.name] else 'by formula'
           for values in PRESETS.values()),
         option.description, _range(spec_of(option)) + (
             '; in Python also module:name' if option.importable and not option.parameter else ''))
        for option in OPTIONS))


def _profiles() -> str:
    profiles = {name: getattr(messages, name) for name in (
        'STEP', 'LATCHED', 'EVENTS', 'HEARTBEAT', 'TRANSFORMS', 'STATIC_TRANSFORMS')}
    return table(('QoS', 'reliability', 'durability', 'keep last'), (
        (name.lower().replace('_', ' '), profile.reliability.name.lower(),
         profile.durability.name.lower().replace('_', ' '), str(profile.depth))
        for name, profile in profiles.items()))


def main() -> int:
    """Write what is not current, and say so; return the exit status."""
    argparse.ArgumentParser(
        prog='python3 -m mnm_ros.reference',
        description='Write docs/reference.md and the files in config from the declarations.',
    ).parse_args()
    try:
        for path, text in files():
            if not path.exists() or path.read_text(encoding='utf-8') != text:
                path.write_text(text, encoding='utf-8')
                print(f'{path.relative_to(ROOT)} written')
    except OSError as error:
        print(f'{error}: expected the source of the package, where files can be written',
              file=sys.stderr)
        return 1
    return 0


if __name__ == '__main__':
    sys.exit(main())
