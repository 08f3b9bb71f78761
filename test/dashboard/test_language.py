# SPDX-License-Identifier: Apache-2.0

"""Each language has all phrases, the code has none, and the page in German shows no English."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import fields, replace
import errno
from html import unescape
import io
import os
from pathlib import Path
import re
import string

from english import ENGLISH
from mnm_ros import language as language_module
from mnm_ros.core.errors import FileError
from mnm_ros.core.progress import said
from mnm_ros.core.progress.activity import Activity, ClosedWay, Evidence, Progress
from mnm_ros.core.progress.events import Event, MovesChange, PairChange, WaysChange
from mnm_ros.core.progress.said import Said
from mnm_ros.core.progress.trust import PolicyTrust, Trust
from mnm_ros.core.queries import Phase
from mnm_ros.core.task.navigation import GoalReport, GoalStatus
from mnm_ros.language import (
    check,
    LANGUAGES,
    moment,
    number,
    Phrase,
    phrase,
    said_by,
    table,
    text_in,
)
from mnm_ros.page.repeated_calls import CommandOutcome, of_all
from mnm_ros.plan import edits, place_edits
from mnm_ros.robot_description import RobotDescription
from mnm_ros.view import words
from mnm_ros.view.event_words import goal_words
from mnm_ros.view.scene import KINDS
from mnm_ros.view.sentences import sentence
from mnm_ros.view.telemetry import RobotTelemetry, Telemetry
from mnm_ros.view.terminal.live_view import Frame, Lines, View
from mnm_ros.view.web import figures
from mnm_ros.view.web.decisions import decisions_table
from mnm_ros.view.web.layers import LEGEND
from mnm_ros.view.web.panels import (
    bar_line,
    CONTROLS,
    events_table,
    machine,
    refusal,
    refusal_to_go,
    robots_table,
    stopped,
    Timeline,
)
from mnm_ros.view.web.situation import consequences, doing
from pages import ROOT
import pytest
from rich.console import Console

OTHERS = LANGUAGES[1:]

BY_VALUE = {
    'kinds': {*KINDS}, 'meanings': {*KINDS} - {'robot', 'wall'}, 'legend': {*LEGEND} - {*KINDS},
    'trust': {*(each.value for each in Trust), 'by_map'}, 'goal': {
        *(each.value for each in GoalStatus), 'left'},
    'controls': {*CONTROLS, 'go'}, 'effects': {*CONTROLS, 'go'},
    'offerers': {control.offerer for control in CONTROLS.values()},
    'machine': {*(each.value for each in Phase), 'building', 'checking', 'label'},
    'disk': {*language_module._DISK.values()}, 'said': {*Said.KINDS},
    'edits': {*edits._EDITS, *place_edits._EDITS},
    'things': {*edits.THINGS}, 'thing_names': {*edits.THINGS}}
"""By the section of the table, the names of its phrases, which are values of the code."""


def placeholders(template: str) -> set[str]:
    return {name for _, name, _, _ in string.Formatter().parse(template) if name is not None}


@pytest.mark.parametrize('language', OTHERS)
def test_each_phrase_is_there_in_each_language_with_the_same_placeholders(language: str) -> None:
    english, other = table('en'), table(language)
    assert {section: {*phrases} for section, phrases in english.items()} == {
        section: {*phrases} for section, phrases in other.items()}
    assert [(section, name) for section, phrases in english.items()
            for name, template in phrases.items()
            if placeholders(template) != placeholders(other[section][name])] == []


@pytest.mark.parametrize('section', BY_VALUE)
def test_each_value_has_a_phrase_and_each_phrase_a_value(section: str) -> None:
    assert {*table('en')[section]} == BY_VALUE[section]


ROOMS = ('view', 'page')
ENGLISH_ALONE = {'origin.py'}
"""The errors of the server."""

EDITORS = [ROOT / 'mnm_ros' / name for name in (
    'page/edit_page.py', 'page/place_page.py', 'page/plan_page.py', 'plan/draft.py',
    'plan/edits.py', 'plan/findings.py', 'plan/place_edits.py', 'plan/place_findings.py',
    'command/plan_forecast.py')]
"""The pages on which plans and place graphs are edited, and what they show."""

CODE = [*(path for room in ROOMS for path in sorted((ROOT / 'mnm_ros' / room).rglob('*.py'))
          if path.name not in ENGLISH_ALONE), *(
              path for path in EDITORS if path.parent.name not in ROOMS)]
UNSEEN = ('props', 'classes', 'box', 'error')
"""Calls of which the texts are for a browser, or for a log."""

KEYED = ('say', 'text', 'once', 'pop')
"""Calls of which the first text is a key."""

VALUES = ('first hypothesis', 'open doors', 'closed doors', 'not bold', '@layer')
"""Values of topics, of the terminal and of styles."""

WORDS = re.compile(r'[A-Za-z]{2,} +[a-z]{2,}')


def shown(tree: ast.AST) -> Iterator[str]:
    """Yield the texts of a module that somebody may read, with braces for their fields."""
    for node in ast.iter_child_nodes(tree):
        called = isinstance(node, ast.Call) and getattr(
            node.func, 'attr', getattr(node.func, 'id', ''))
        if isinstance(node, ast.Raise) or isinstance(node, ast.Expr) and isinstance(
                node.value, ast.Constant):
            continue    # an error, or a docstring
        if called in UNSEEN:
            yield from shown(node.func)
        elif called in KEYED:
            for each in (node.func, *node.args[1:]):
                yield from shown(ast.List([each]))
        elif isinstance(node, ast.JoinedStr):
            yield ''.join(each.value if isinstance(each, ast.Constant) else '{}'
                          for each in node.values)
            for each in node.values:
                yield from shown(each)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value
        else:
            yield from shown(node)


def sentences(code: str) -> list[str]:
    """Return the texts of a module that look like words for people."""
    texts = (re.sub(r'<[^>]*>?|[\w-]+="[^"]*"?', '', text) for text in shown(ast.parse(code)))
    return [text for text in texts if WORDS.search(text) and not text.startswith(
        ('bold ', *VALUES))]


def test_a_sentence_in_the_code_is_found() -> None:
    assert sentences("""'''Return nothing of it.'''
x.show('no way there', f'{a} is out of {reach()}')
x.props('dense outlined')
raise ValueError('found none of it')
f'<p class="of a kind">{x}</p>'
""") == ['no way there', '{} is out of {}']


@pytest.mark.parametrize('path', CODE, ids=lambda path: path.stem)
def test_no_sentence_is_written_outside_of_the_table(path: Path) -> None:
    assert sentences(path.read_text('utf-8')) == []


def test_each_phrase_that_the_code_names_is_in_the_table() -> None:
    """A name that is put together begins with a section, of which the values are tested above."""
    code = '\n'.join(path.read_text('utf-8') for path in (ROOT / 'mnm_ros').rglob('*.py'))
    named = {*re.findall(r"(?:phrase|Phrase\.of)\(\s*'([\w.]+)'", code)}
    assert len(named) > 80
    assert [name for name in named if name.partition('.')[2] not in table('en').get(
        name.partition('.')[0], ())] == []
    assert {name for _, name in re.findall(r"_word\((['\"])(\w+)\1", code)} <= {
        *table('en')['page'], *table('en')['terminal'], *table('en')['editor']}


@pytest.mark.parametrize('section', [
    'editor', 'expected', 'edit_keys', 'findings', 'forecast', 'objections'])
def test_each_phrase_of_the_editors_is_asked_for(section: str) -> None:
    code = '\n'.join(path.read_text('utf-8') for path in (
        *EDITORS, *(ROOT / 'mnm_ros' / name for name in (
            'plan/grid_fit.py', 'places/geojson.py'))))
    assert {*table('en')[section]} <= {*re.findall(r"['.](\w+)'", code)}


@pytest.mark.parametrize('path', EDITORS, ids=lambda path: path.stem)
def test_the_editors_refuse_by_phrases_alone(path: Path) -> None:
    assert not re.findall(r'(?:ValueError|FileError)\(.*', path.read_text('utf-8'))


@pytest.mark.parametrize(('section', 'asked'), [
    ('objections', r"\.refused\(\s*'(\w+)'"),
    ('expected', r"edit\.(?:wrong|number|points)\('\w+', '(\w+)'"),
    ('edit_keys', r"edit\.(?:wrong|number|points|point|name|truth)\('(\w+)'|"
     r"_place\(graph, edit, '(\w+)'")])
def test_each_refusal_of_an_editor_has_its_phrase(section: str, asked: str) -> None:
    code = '\n'.join(path.read_text('utf-8') for path in EDITORS)
    names = {''.join(found) for found in re.findall(asked, code)}
    assert len(names) > 8 and names <= {*table('en')[section]}


FLAT = RobotDescription(
    ('nord', 'ost'), 0, names={0: 'Flur', 1: 'Bad', 2: 'Bad 2', 3: 'Küche', 4: 'Büro'},
    rooms={'Flur': (0,), 'Bad': (1, 2), 'Küche': (3,), 'Büro': (4,)},
    doors={'Bad-Flur': ((0, 1),)})
AT = 1_800_000_000.0
NAMES = {'Bad', 'Bad-Flur', 'nord', 'ost'}
BY = 'Seite 192.0.2.7'
EXAMPLES = {'int': 7, 'float': 1.5, 'str': 'X', 'States': (7, 3), 'Pairs': ((7, 1),),
            'Nested': said.HomeFound(3)}

def every_event() -> Iterator[Event]:
    """Yield an event of each kind of value, of each change and of each request."""
    for kind in Said.KINDS.values():
        yield Event(9, 'in English', said=kind(
            **{each.name: EXAMPLES[str(each.type)] for each in fields(kind)}), time=AT)
    for before, after in (({1: 9}, {0: 9}), ({0: 9}, {1: 9}), ({1: 9}, {1: 5, 0: 4}),
                          ({1: 9}, {3: 9}), ({0: 9, 1: 5}, {0: 9}), ({0: 9}, {0: 9, 1: 3})):
        for action in (0, 1):
            change = PairChange(0, action, before, after, time=AT)
            yield from (Event(9, 'in English', kind, change, time=AT + step)
                        for step, kind in enumerate(('hint', 'decision')))
    for action in (None, 0):
        for now in (60, 99):
            for began in ({'time': AT, 'latest_time': AT + 600}, {'step': 3, 'latest': 9}, {}):
                yield Event(9, 'in English', 'change', moves=MovesChange(
                    ((0, 1, 1),), action, (95, 100), (now, 100), **began),
                    said=said.MostHasChanged(1, 2) if action is None else None)
    for ways in (WaysChange((3,), (1, 2), (4,), (0,), (4,)), WaysChange((3,), (), (), (), ()),
                 WaysChange((), (3, 4), away={4: 5.0}, radius=4.0), WaysChange()):
        yield Event(9, 'in English', 'change', ways=ways, said=said.ChangeRelearnt())
    for what in {*table('en')['asked']} - {'goal'}:
        yield Event(9, 'in English', 'command', state=3, what=what, by=BY, time=AT,
                    said=said.InWords('X'), count=3, corrects='X')
    yield Event(9, 'in English', 'goal', what='goal', target=3, by=BY)
    for status in GoalStatus:
        yield Event(9, 'in English', 'goal', what=status.value, target=3, said=said.InWords('X'))
    yield Event(9, 'in English', 'setting', what='setting', by=BY,
                said=said.SettingChanged('X', 'X', '1', '2'))


def scenario() -> Telemetry:
    """Return the telemetry of a robot that has seen changes, of which one is not relearnt yet."""
    trust = {state: PolicyTrust(each, 2.5, 7.0, 9, 'in English', said=said.BestSoFar(),
                                expected_seconds=130.0, declared=state)
             for state, each in enumerate(Trust)}
    return Telemetry(
        phase='checking/evaluation', events=tuple(every_event()), known=(0, 1, 3), trust=trust,
        counts={0: {0: {0: 3, 1: 9}, 1: {3: 2}}}, description=FLAT, heartbeat=99.0, reports=1,
        report={'steps': '12345', 'steps_per_second': '0.3', 'changes_noticed': '2',
                'phase': 'checking/evaluation', 'candidates': '3', 'unanswered': '12'},
        pace=0.3, true_setting=1, exploration_steps=2841, offered=frozenset(
            control.service for control in CONTROLS.values()),
        activity=Activity(
            5, said=said.CheckingProof(3, 0.3, 9.2, 0.1, 5.0), home=0, current=3, limit=8.0,
            candidates=(5,), lost=(1, 2, 4), work=7, sources={'r1': 5, 'r2': 7},
            closed=(ClosedWay(0, 1, AT, AT + 600), ClosedWay(3, 0)),
            progress=Progress('first hypothesis', 812, 9838, 1800, 15000, 3.0, 700),
            tests=tuple(Evidence(kind, 3, 1, share, 4.0) for kind, share in (
                ('certificate', 1.0), ('policy', 2.0), ('proof', 3.9), ('transition', 1.0),
                ('detector', 3.0)))))


def page(heard: Telemetry, language: str) -> Iterator[str]:
    """Yield all that the page says of a telemetry."""
    yield consequences(heard, language)
    yield doing(heard, BY, language)
    for name, value, remark in figures.tiles(heard, language):
        yield f'{remark} {figures.tile_label(name, value, language)}'
    bar = figures.bar(heard, language)
    yield from (bar.text, bar.detail) if bar else ()
    yield figures.presence(heard, 100.0, 'X', language)
    for text in (decisions_table(heard, language), robots_table(heard, language),
                 machine(heard.phase, language), events_table(heard, language)):
        yield unescape(re.sub(r'<svg class="machine"|class="[^"]*"|</?\w+|viewBox|aria-label',
                              ' ', text))
    for state in range(6):
        yield from figures.about(heard, state, language)
        yield refusal_to_go(state, heard, language)
    yield refusal_to_go(None, heard, language)
    services = '|'.join(control.service for control in CONTROLS.values())
    yield from (re.sub(rf'\b({services})\b', '', said) for said in (
        *(refusal(name, heard, 100.0, language) for name in CONTROLS),
        bar_line(heard, 100.0, language=language)))
    yield stopped(heard, language)
    timeline = Timeline()
    timeline.update(heard)
    yield from timeline.options(language)['legend']['data']


def variants() -> Iterator[Telemetry]:
    """Yield the scenario in each phase, in silence, with several robots, and stopped."""
    heard = scenario()
    yield from (replace(heard, phase=each.value) for each in Phase)
    yield from (replace(heard, heartbeat=beat, gone=gone)
                for beat, gone in ((None, False), (1.0, False), (1.0, True)))
    yield replace(heard, navigator=True, stopped=frozenset(('',)))
    yield replace(heard, offered=frozenset())
    yield replace(heard, robots=(RobotTelemetry('r1', 'ok', 'X', 20, 0, 12.0),
                                 RobotTelemetry('r2', 'ok', 'X')), stopped=frozenset(('r2',)))
    for tests in (('rediscovery',), ('detector', 'transition')):
        yield replace(heard, activity=replace(heard.activity, tests=tuple(
            Evidence(kind, 3, 1, share, 4.0) for kind in tests for share in (0.1, 2.0, 4.0))))
    for done in (812, 9838):
        for pace in (None, 0.3, 9e9):
            yield replace(heard, pace=pace, activity=replace(heard.activity, progress=Progress(
                'check' if pace else 'relearning', done, 9838, 1800, 15000)))
    pause = Event(9, 'in English', 'pause', time=AT, by=BY, said=said.PausedToGoHomeBy(BY))
    yield replace(heard, phase='paused', events=(pause,), activity=replace(
        heard.activity, current=0, said=said.Because('paused', said.ExploreCalled())))
    yield Telemetry()


def test_the_page_in_german_says_nothing_in_english() -> None:
    told = {text for heard in variants() for text in page(heard, 'de')}
    assert len(told) > 80
    found = {text: ENGLISH.findall(text) for text in told if ENGLISH.search(text)}
    assert found == {}
    # The words that are sought are those of the page in English.
    english = {text for heard in variants() for text in page(heard, 'en')}
    assert sum(bool(ENGLISH.search(text)) for text in english) > 0.6 * len(english)


def test_the_terminal_in_german_says_nothing_in_english() -> None:
    for heard in variants():
        lines, console = io.StringIO(), Console(file=io.StringIO(), width=150, height=90)
        console.print(View(heard, Frame('X', 2, language='de')))
        Lines(lines, 2, 1.0, 'de').show(heard, 2.0)
        text = f'{console.file.getvalue()}{lines.getvalue()}'    # type: ignore[attr-defined]
        values = {heard.phase, heard.activity.within(heard.phase), heard.phase_group}
        assert ENGLISH.findall(re.sub('|'.join(filter(None, values)) or 'X', '', text)) == []
        labels = [line[:15].strip() for line in text.splitlines()]
        assert {'Phase', 'bekannt', 'Schritte', 'Änderungen'} <= {*labels}


def test_no_phrase_in_german_has_a_word_of_english() -> None:
    german = table('de')
    assert {(section, name): ENGLISH.findall(template)
            for section, phrases in german.items() for name, template in phrases.items()
            if ENGLISH.search(re.sub(r'\{[^|}]*\}|\{\w+:|mnm_ros \w+', '', template))} == {}


def test_numbers_and_times_are_those_of_the_language() -> None:
    assert number(12_345.6, 'de', ',.1f') == '12.345,6' and number(None, 'de') == '-'
    assert number(0.6, 'de', '.0%') == '60 %' and number(0.6, 'en', '.0%') == '60%'
    assert {moment(AT + 86_400 * day, '%a', 'de') for day in range(7)} == {
        'Mo', 'Di', 'Mi', 'Do', 'Fr', 'Sa', 'So'}
    assert phrase('tiles.known', 'de', count=1) == 'Ort bekannt'
    assert words.duration(7260, 'de') == '2 h 1 min'


@pytest.mark.parametrize(('number', 'german'), [
    (errno.ENOSPC, 'a/plan.yaml: der Datenträger ist voll, erwartet ist Platz für die Datei'),
    (errno.EISDIR, 'a/plan.yaml ist ein Ordner, erwartet ist eine Datei'),
    (errno.EBUSY, "[Errno 16] Device or resource busy: 'a/plan.yaml'")])
def test_an_error_of_the_disk_is_said_in_the_language_of_the_page(
        number: int, german: str) -> None:
    error = OSError(number, os.strerror(number), 'a/plan.yaml')
    assert text_in('de', said_by(error)) == german


def test_what_came_of_a_button_is_said_in_the_language_of_who_reads_it() -> None:
    came = of_all({'r1': CommandOutcome(Phrase.of('outcomes.no_answer', seconds=5.0), False),
                   'r2': CommandOutcome('at rest', True)})
    assert text_in('de', came.text) == 'r1: nach 5 s keine Antwort; r2: at rest'
    assert text_in('en', came.text) == 'r1: no answer after 5 s; r2: at rest'
    report = GoalReport(1, 3, GoalStatus.REACHED, 'reached 3 in 1 steps', steps=1)
    assert goal_words(report, FLAT) == 'reached Küche in 1 step'
    assert goal_words(report, FLAT, 'de') == 'Ziel Küche in 1 Schritt erreicht'
    refused = report.over(GoalStatus.REFUSED, 'no policy for it yet', 0, said.NoPolicyYet())
    assert goal_words(refused, FLAT, 'de') == (
        'Ziel Küche abgelehnt: es gibt noch keine Policy dorthin')
    stopped = replace(refused, said=said.RobotStopped())    # here a button is pressed
    assert goal_words(stopped, FLAT) == 'refused Küche: the robot is stopped; Go on frees it'
    assert sentence(stopped.said).startswith('the robot is stopped; mnm_ros go, or ')
    little = replace(refused, said=said.LittleTrust('doubted', 'certified', 'Tür zu'))
    assert goal_words(little, FLAT, 'de') == (
        'Ziel Küche abgelehnt: die Policy dorthin ist angezweifelt: Tür zu')


@pytest.mark.parametrize(('text', 'error'), [
    (b'words: [1', 'expected a table of words'), (b'\xff\xfe', 'expected a table of words'),
    (b'', 'no sections of phrases'), (b'words: 1', 'no sections of phrases')])
def test_a_table_that_cannot_be_read_is_refused_by_its_file(
        text: bytes, error: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / 'de.yaml'
    path.write_bytes(text)
    monkeypatch.setattr('mnm_ros.language.config_file', lambda name: path)
    with pytest.raises(FileError, match=f'^{path}: .*{error}'):
        table.__wrapped__('de')


@pytest.mark.parametrize('language', LANGUAGES)
def test_a_table_with_all_phrases_has_no_fault(language: str) -> None:
    check(language)


@pytest.mark.parametrize('language', LANGUAGES)
@pytest.mark.parametrize(('phrase', 'error'), [
    (None, 'is None, expected a text'), (True, 'is True, expected a text'),
    ('home is {state', "is 'home is {state', expected a text with pairs of braces"),
    ('home is {stat}', "has {'stat'} in braces, expected only {'state'}")])
def test_a_phrase_with_a_fault_is_named_at_the_start(
        language: str, phrase: object, error: str, monkeypatch: pytest.MonkeyPatch) -> None:
    tables = {each: {name: dict(found) for name, found in table(each).items()}
              for each in LANGUAGES}
    if phrase is None:
        del tables[language]['said']['HomeFound']
    else:
        tables[language]['said']['HomeFound'] = phrase
    monkeypatch.setattr('mnm_ros.language.table', tables.__getitem__)
    with pytest.raises(FileError, match=f'{language}.yaml: the phrase said.HomeFound {error}'):
        check(language)
    (other,) = {*LANGUAGES} - {language}
    if not isinstance(phrase, str):
        check(other)    # which does not need that one
