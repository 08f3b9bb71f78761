# SPDX-License-Identifier: Apache-2.0

"""Every module knows its room: which room may import which, and which do without ROS."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from graphlib import TopologicalSorter  # noqa: I201
from pathlib import Path  # noqa: I100, I201
import re
import subprocess
import sys

ROOT = Path(__file__).resolve().parents[1]

WITHOUT_ROS = {
    'files': '',
    'located_yaml': 'files',
    'version': '',
    'core/errors': '',
    'core/model': '',
    'core/task': 'core/model core/progress',
    'core/statistics': 'core/model',
    'core/progress': 'core/model',
    'core/knowledge': 'core/model core/progress',
    'core/planning': 'core/model core/statistics',
    'core/detection': 'core/model core/statistics core/progress',
    'core/mnm': 'core/model core/task core/statistics core/progress core/detection',
    'core/watch': 'core/model core/statistics core/progress core/detection core/mnm',
    'core/disco': 'core/model core/task core/statistics core/progress core/planning core/mnm',
    'core/components': 'core/plug_ins core/model core/statistics core/detection core/planning'
                       ' core/mnm core/watch core/disco',
    'core/plug_ins': '',
    'core/improve': 'core/model core/statistics core/progress core/mnm core/watch',
    'core/paper': 'core/components core/model core/task core/statistics core/progress core/mnm',
    'core': 'core/components core/plug_ins core/model core/task core/detection core/progress'
            ' core/knowledge core/mnm core/watch core/disco core/statistics core/planning',
    'core/__main__': 'core/disco core/mnm core/paper core/task',
    'core/fleet': 'core core/model core/task core/progress core/mnm',
    'core/__init__': 'core core/detection core/fleet core/knowledge core/mnm core/model'
                     ' core/paper core/planning core/progress core/task',
    'protocol': 'core',
    'checkpoint': 'core files',
    'driving': '',
    'plan': 'driving files located_yaml places robot_description',
    'places': 'core driving files located_yaml robot_description',
    'simulation': 'core driving files located_yaml places plan robot_description',
    'trial': 'core protocol checkpoint files located_yaml simulation robot_description version'
             ' view',
    'export': 'core checkpoint places simulation robot_description view',
    'study': 'core export simulation',
    'robot_description': 'core files',
    'declaration_file': 'core/model located_yaml',
    'view': 'core files robot_description topics',
    'view/terminal': 'core robot_description simulation view',
    'view/web': 'core robot_description view',
    'forked_query': '',
    'lookout': 'forked_query',
    'topics': '',
    'security': 'topics',
}
ROOMS = {
    **WITHOUT_ROS,
    'messages': 'core protocol topics view',
    'subscriptions': 'core robot_description view messages',
    'navigator_client': 'core messages robot_description',
    '__init__': 'checkpoint core export messages navigator_client nodes robot_description'
                ' simulation study version view',
    'parameters': 'core driving located_yaml topics trial',
    'reference': 'core topics parameters messages',
    'launching': 'topics parameters view',
    'contract': 'core protocol robot_description messages',
    'console': 'core files located_yaml places plan simulation robot_description view'
               ' subscriptions topics parameters',
    'command': 'core checkpoint driving files places plan robot_description export simulation'
               ' topics trial version view messages subscriptions console parameters nodes/common'
               ' page',
    '__main__': 'command',
    'nodes/common': 'core driving files protocol checkpoint robot_description messages'
                    ' parameters',
    'nodes/exploring/link': 'core protocol robot_description view messages parameters'
                            ' nodes/common',
    'nodes/exploring/output': 'core lookout robot_description view messages nodes/common'
                              ' nodes/exploring/link',
    'nodes/exploring': 'version core protocol checkpoint declaration_file files robot_description'
                       ' view messages'
                       ' parameters nodes/common nodes/exploring/link nodes/exploring/output',
    'page': 'core places plan view robot_description subscriptions navigator_client messages'
            ' parameters nodes/common',
    'nodes/navigating': 'core driving protocol robot_description subscriptions messages'
                        ' nodes/common',
    'nodes/robot_side': 'core protocol checkpoint robot_description messages parameters'
                        ' nodes/common',
    'nodes/mobile': 'core/model core/progress core/task driving files places plan'
                    ' robot_description messages parameters nodes/common nodes/robot_side',
    'nodes': 'core checkpoint protocol driving files places plan simulation trial'
             ' view robot_description messages parameters nodes/common nodes/exploring'
             ' nodes/mobile nodes/navigating nodes/robot_side page',
}
"""What the modules of a room may import of the package, beside its own and errors.

A room is a folder of the package, without the rooms within it, or a module that others share. Who
may import a room from beside it may import the rooms within it, too.
"""

CORE = tuple(room for room in ROOMS if room.startswith('core/'))

PLUG_INS = ('core/paper', 'core/improve')
"""Rooms of the core that are named as ``module:factory``, as those of another package are."""

SHOWN = ('core/__init__', 'core/__main__')
"""The face, whose names are imported once asked for, and what draws all state machines."""

BARE = ('core/errors', 'version')
"""Rooms that import nothing at all of the package."""

OF_ROS = re.compile(r'(rcl|ros|ament|tf2)|launch(_|$)|\w+_(msgs|srvs|interfaces)$')


def modules() -> dict[str, Path]:
    """Return the path of every module of the package by its full name."""
    return {'.'.join(path.relative_to(ROOT).with_suffix('').parts).removesuffix('.__init__'): path
            for path in sorted((ROOT / 'mnm_ros').rglob('*.py'))}


def imports() -> Iterator[tuple[str, str]]:
    """Yield each module and what it imports, also in functions and for the type checker."""
    known = modules()
    for module, path in known.items():
        for node in ast.walk(ast.parse(path.read_text(encoding='utf-8'), str(path))):
            if isinstance(node, ast.Import):
                yield from ((module, alias.name) for alias in node.names)
            elif isinstance(node, ast.ImportFrom):
                source = node.module or ''    # ruff bans relative imports
                for name in dict.fromkeys(f'{source}.{alias.name}' for alias in node.names):
                    yield module, name if name in known else source


def room_of(module: str) -> str:
    """Return the room of a module of the package: the innermost that it is in."""
    parts = module.split('.')[1:] or ['__init__']
    if parts == ['core']:
        return 'core/__init__'    # the face, which shows what is in the rooms
    within = ['/'.join(parts[:count]) for count in range(len(parts), 0, -1)]
    return next((room for room in within if room in ROOMS), within[-1])


def may_import(room: str) -> set[str]:
    """Return the rooms that a room may import, with those within them."""
    named = [*ROOMS[room].split(), *(['core/errors'] if room not in BARE else [])]
    return {there for there in ROOMS for name in named
            if there == name or there.startswith(f'{name}/') and not room.startswith(f'{name}/')}


def _reason(module: str, imported: str) -> str:
    """Return why an import is forbidden; empty if it is not."""
    here, top = room_of(module), imported.partition('.')[0]
    if top != 'mnm_ros':
        return f'no ROS in {here}' if here in WITHOUT_ROS and OF_ROS.match(top) else ''
    if here not in ROOMS:
        return f'{here} is no room: name it in ROOMS'
    there = room_of(imported)
    if there != here:
        return '' if there in may_import(here) else f'{here} may not import {there}'
    return 'an executable may not be imported' if here == 'nodes' else ''


def test_every_room_imports_what_it_may() -> None:
    found = [f'{module} imports {imported} ({reason})' for module, imported in imports()
             if (reason := _reason(module, imported))]
    assert not found, '\n'.join(found)


def test_rooms_without_ros_and_those_of_the_core_import_no_others() -> None:
    assert {room_of(module) for module in modules()} == set(ROOMS)
    assert not set().union(*map(may_import, WITHOUT_ROS)) - set(WITHOUT_ROS)
    assert not [room for room in CORE if not may_import(room) <= {*CORE, 'core'}]


def test_nothing_but_a_name_leads_to_a_plug_in() -> None:
    """``components.PARTS`` has the names."""
    assert not [each for each in imports() if (there := room_of(each[1])) in PLUG_INS
                and room_of(each[0]) not in (there, *SHOWN)]


def test_rooms_lead_downwards_only() -> None:
    """``__init__`` has the version, which anybody may import."""
    TopologicalSorter({
        room: may_import(room) - {'__init__'} for room in ROOMS}).prepare()


_SCRIPT = """
import importlib, re, sys

class NoRos:
    def find_spec(self, name, path=None, target=None):
        if re.match(sys.argv[1], name.split('.')[0]):
            raise ImportError('imports ROS: ' + name)

sys.meta_path.insert(0, NoRos())
for name in sys.argv[2:]:
    importlib.import_module(name)
"""


def test_no_ros_is_needed() -> None:
    """Neither do the rooms import ROS nor does a module that they import, whoever wrote it."""
    names = [module for module in modules() if room_of(module) in ('__init__', *WITHOUT_ROS)]
    done = subprocess.run([sys.executable, '-c', _SCRIPT, OF_ROS.pattern, *names],
                          capture_output=True, text=True, timeout=240)
    assert done.returncode == 0, done.stderr
