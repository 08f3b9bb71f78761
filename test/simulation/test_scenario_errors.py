# SPDX-License-Identifier: Apache-2.0

"""Each malformed scenario is refused with its file, its line and what was expected."""

from __future__ import annotations

from pathlib import Path
import re

from mnm_ros.core.errors import FileError
from mnm_ros.simulation.scenario import load
import pytest


def table(rules: str = '0: {east: {1: 1.0}}', after: str = '') -> str:
    """Return a scenario with ``rules`` on line 5 and ``after`` from line 6."""
    return f"""actions: [east, west]
start: 0
settings:
  - transitions:
      {rules}
{after}"""


def grid(*rows: str, more: str = '', actions: str = 'east, west, south, north') -> str:
    """Return a scenario with the first of ``rows`` on line 5 and ``more`` after the last."""
    listed = '\n'.join(f'        - "{row}"' for row in rows)
    return f"""actions: [{actions}]
settings:
  - grid:
      rows:
{listed}
{more}"""


def generator(inside: str, actions: str = 'east, west') -> str:
    """Return a scenario with the generator on line 3."""
    return f'actions: [{actions}]\nsettings:\n  - generator: {{{inside}}}\n'


SECOND = '  - transitions: {}\n'
END = 'settings: [{transitions: {}}]\n'

MALFORMED = [
    ('negative probability', table('0: {east: {1: 1.5, 0: -0.5}}'),
     ':5: found 1.5, expected a probability between 0 and 1 (state 0, action east)'),
    ('negative only', table('0: {east: {0: -0.5, 1: 1.0}}'), ':5: found -0.5, expected a prob'),
    ('nan', table('0: {east: {1: .nan}}'), ':5: found .nan, expected a probability'),
    ('infinity', table('0: {east: {1: .inf}}'), ':5: found .inf, expected a probability'),
    ('text as probability', table('0: {east: {1: often}}'), ":5: found 'often', expected a prob"),
    ('truth as probability', table('0: {east: {1: true}}'), ':5: found true, expected a prob'),
    ('no probability', table('0: {east: {1: }}'), ':5: found nothing, expected a probability'),
    ('sum below 1', table('0: {east: {1: 0.9}}'),
     ':5: probabilities of state 0, action east sum to 0.9, expected 1 (within 1e-9)'),
    ('sum just off', table('0: {east: {1: 0.9, 0: 0.100000002}}'), ':5: probabilities of state 0'),
    ('no outcomes', table('0: {east: {}}'), ':5: probabilities of state 0, action east sum to 0,'),
    ('third line of a state',
     table('0:\n        west: {0: 1.0}\n        east:\n          1: 0.5\n          2: 0.4'),
     ':7: probabilities of state 0, action east sum to 0.9'),
    ('unknown action', table('0: {up: {1: 1.0}}'),
     ":5: unknown action 'up', expected one of east, west"),
    ('reset in transitions', table('0: {RESET: {1: 1.0}}'), ":5: unknown action 'RESET'"),
    ('fraction as state', table('0.5: {east: {1: 1.0}}'),
     ':5: found 0.5, expected a state, an integer'),
    ('name as state', table('home: {east: {1: 1.0}}'), ":5: found 'home', expected a state"),
    ('name as next state', table('0: {east: {home: 1.0}}'),
     ":5: found 'home', expected a next state, an integer"),
    ('state beyond int64', table(f'0: {{east: {{{2**63}: 1.0}}}}'),
     ':5: 9223372036854775808 does not fit into 64 bits'),
    ('list of actions', table('0: [east]'), ':5: found a list, expected a mapping from actions'),
    ('number for outcomes', table('0: {east: 1}'),
     ':5: found 1, expected a mapping from next states'),
    ('empty transitions', table(''), ':4: found nothing, expected a mapping from states'),
    ('state twice', table('0: {}\n      1: {}\n      0: {}'), ':7: key 0 appears twice'),
    ('action twice', table('0: {east: {1: 1.0}, east: {0: 1.0}}'), ':5: key east appears twice'),
    ('list as key', table('0: {[east]: {1: 1.0}}'), ':5: found a list, expected a name'),
    ('date as state', table('2020-13-01: {}'), ':5: found 2020-13-01, expected a name'),
    ('wrong tag', table('0: {east: {1: !!bool 3}}'), ':5: found 3, expected a probability'),
    ('unknown tag', table('0: {east: {1: !odds 3}}'), ':5: found 3, expected a probability'),

    ('unknown setting key', table(after='    untill: 5\n'),
     ":6: unknown key 'untill' in a setting, expected transitions, grid, generator, until"),
    ('several kinds', table(after='    grid: {rows: ["S"]}\n'),
     ':6: found transitions and grid, expected one of transitions, grid, generator'),
    ('no kind', table(after='  - until: 5\n'), ':6: found none, expected one of transitions'),
    ('setting is a name', table(after='  - corridor\n'), ":6: found 'corridor', expected a sett"),
    ('until on the last', table(after='    until: 5\n'), ':6: no setting follows'),
    ('until zero', table(after='    until: 0\n' + SECOND),
     ':6: found 0, expected a number of steps, more than 0'),
    ('until fraction', table(after='    until: 1.5\n' + SECOND), ':6: found 1.5, expected a num'),
    ('until not increasing', table(after=f'    until: 9\n{SECOND}    until: 9\n{SECOND}'),
     ':8: found 9, expected a number of steps, more than 9'),
    ('until not increasing after a gap',
     table(after=f'    until: 9\n{SECOND}{SECOND}    until: 7\n{SECOND}'),
     ':9: found 7, expected a number of steps, more than 9'),

    ('unknown top-level key', table(after='seed: 3\n'),
     ":6: unknown key 'seed' in a scenario, expected name, actions, start, settings"),
    ('key twice', table(after='start: 1\n'), ':6: key start appears twice'),
    ('no start', f'actions: [east]\n{END}', ':2: start is missing, expected the start state'),
    ('start is a name', f'actions: [east]\nstart: home\n{END}', ":2: found 'home', expected the"),
    ('start beyond int64', f'actions: [east]\nstart: {-2**63 - 1}\n{END}', ':2: -92233720368547'),
    ('no settings', 'actions: [east]\nstart: 0\n', ':1: settings is missing, expected a list'),
    ('empty settings', 'actions: [east]\nstart: 0\nsettings: []\n', ':3: found an empty list'),
    ('settings a mapping', 'actions: [east]\nstart: 0\nsettings: {}\n', ':3: found a mapping'),
    ('no actions', f'start: 0\n{END}', ':1: actions is missing, expected a list of names'),
    ('empty actions', f'start: 0\nactions: []\n{END}',
     ':2: found an empty list, expected a list of at least one name'),
    ('action twice in list', f'start: 0\nactions:\n  - east\n  - east\n{END}',
     ':4: action east appears twice, expected distinct names'),
    ('reset as action', f'start: 0\nactions: [east, reset]\n{END}', ':2: RESET is always there'),
    ('action yes', f'start: 0\nactions: [yes]\n{END}', ':2: found yes, expected the name of an'),
    ('empty name', f'name: ""\nstart: 0\nactions: [east]\n{END}', ":1: found '', expected the"),
    ('not a mapping', '- actions\n- start\n', ':1: found a list, expected a scenario, a mapping'),
    ('empty file', '', ':1: found nothing, expected a scenario, a mapping'),
    ('comment only', '# nothing\n', ':1: found nothing, expected a scenario, a mapping'),

    ('ragged rows', grid('S..', '..'), ":6: row '..' has 2 cells, expected 3 as in the first"),
    ('unknown cell', grid('S..', '.X.'), ":6: found 'X' in row '.X.', expected '.', '#' or 'S'"),
    ('empty rows', grid('S').replace('\n        - "S"', ' []'),
     ':4: found an empty list, expected a list of at least one row'),
    ('no S', grid('...', '...'), ":5: found 0 cells 'S', expected exactly 1"),
    ('two S', grid('S..', '..S'), ":5: found 2 cells 'S', expected exactly 1"),
    ('no rows', grid(more='    until: 5'), ':4: found nothing, expected a list of strings'),
    ('empty row', grid('S', ''), ":6: found '', expected a row"),
    ('rows missing', 'actions: [east, west, south, north]\nsettings:\n  - grid: {slip: 0}\n',
     ':3: rows is missing, expected a list of strings'),
    ('slip above 1', grid('S.', more='      slip: 1.5\n'),
     ':6: found 1.5, expected a probability between 0 and 1'),
    ('slip below 0', grid('S.', more='      slip: -0.1\n'), ':6: found -0.1, expected a prob'),
    ('slip nan', grid('S.', more='      slip: .nan\n'), ':6: found .nan, expected a prob'),
    ('unknown grid key', grid('S.', more='      slop: 0.1\n'), ":6: unknown key 'slop' in a grid"),
    ('grid without a move', grid('S.', actions='east, west, south'),
     ':4: the actions are east, west, south, expected those of a grid: east, west, south, north'),
    ('start beside S', grid('S.', more='start: 1\n'), ':4: starts in state 0, expected the start'),
    ('moving S', grid('S.', more='  - grid:\n      rows: [".S"]\n'), ':7: starts in state 1, exp'),

    ('unknown generator', generator('name: maze'),
     ":3: unknown generator 'maze', expected one of endless_corridor, endless_tree"),
    ('nameless generator', generator('success: 1.0'), ':3: name is missing, expected one of endl'),
    ('unknown parameter', generator('name: endless_corridor, length: 3'),
     ":3: unknown key 'length' in generator endless_corridor, expected name, success"),
    ('parameter out of range', generator('name: endless_corridor, success: 2'),
     ':3: found 2, expected a number between 0 and 1'),
    ('parameter is text', generator('name: endless_corridor, success: often'),
     ":3: found 'often', expected a number between 0 and 1"),
    ('actions of another generator', generator('name: endless_tree'),
     ':3: the actions are east, west, expected those of generator endless_tree: left, right'),

    ('unclosed bracket', 'actions: [east\nstart: 0\n', ':2: not YAML: '),
    ('bad indentation', table(after=' until: 5\n'), ':6: not YAML: '),
    ('two documents', f'{table()}---\nstart: 0\n', ':6: not YAML: expected a single document'),
    ('unknown alias', table('0: *nowhere'), ':5: not YAML: found undefined alias'),
    ('control character', table('0: {east: \x07}'), ':5: not YAML: '),
    ('endless nesting', '[' * 5000, ':1: '),
]


@pytest.mark.parametrize(
    ('text', 'expected'), [pytest.param(*row, id=name) for name, *row in MALFORMED])
def test_malformed(text: str, expected: str, tmp_path: Path) -> None:
    path = tmp_path / 'bad.yaml'
    path.write_text(text, encoding='utf-8')
    with pytest.raises(FileError) as refusal:
        load(str(path))
    assert str(refusal.value).startswith(f'{path}{expected}')


def test_ids_are_distinct() -> None:
    assert len({name for name, *_ in MALFORMED}) == len(MALFORMED) >= 25


def test_what_is_not_utf8(tmp_path: Path) -> None:
    path = tmp_path / 'bad.yaml'
    path.write_bytes(b'name: x\nactions: [\xff]\n')
    with pytest.raises(FileError, match=rf'{re.escape(str(path))}:2: not YAML: '):
        load(str(path))


@pytest.mark.parametrize(('name', 'reason'), [
    ('none.yaml', 'No such file'), ('', 'Is a directory')])
def test_what_cannot_be_read(name: str, reason: str, tmp_path: Path) -> None:
    path = tmp_path / name
    with pytest.raises(FileError, match=f'{re.escape(str(path))}: cannot be read .{reason}'):
        load(str(path))
