# SPDX-License-Identifier: Apache-2.0

"""
The pages of a plan and of a place graph.

What they take from a browser, how they are served, and how they are used in a real browser.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
import re
import signal
import socket
import sys
import time
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

from english import english_in
from flats import DOOR, flat, saved
from late import late
from mnm_ros.language import phrase
from mnm_ros.places.geojson import read_geojson
from mnm_ros.places.place_graph import Edge, Place, PlaceGraph
from mnm_ros.plan.plan_file import load
from node_processes import DEADLINE, NodeProcess
from node_server import COMMAND
import pytest
from tab import Tab
from tiers import thorough

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / 'benchmarks'))

from browsing import browser, missing  # noqa: E402, I100

late('nicegui')
plan_page, place_page = map(late, ('mnm_ros.page.plan_page', 'mnm_ros.page.place_page'))

RADIUS = ('--radius', '1')    # what is told of exploring takes a second to be played
HOME = ('--cells', '--home', '0.5', '0', '--robot-radius', '0.15', '--clearance', '0.02', '--cell',
        '0.5', *RADIUS)


@pytest.mark.parametrize(('drawn', 'edit'), [
    ({'tool': 'move', 'points': [[1, 1], [1.5, 0.5]]}, {'edit': 'move', 'by': [0.5, -0.5]}),
    ({'tool': 'home', 'points': [[1, 1], [1.01, 1]]}, {'edit': 'home', 'at': [1, 1]}),
    ({'tool': 'home', 'points': [[1, 1], [1, 2]]}, {'edit': 'home', 'at': [1, 1], 'degrees': 90}),
    ({'tool': 'room', 'points': [[1, 1]]}, {'edit': 'room', 'name': 'den', 'at': [1, 1]}),
    ({'tool': 'door', 'points': [[1, 1], [1, 2]]},
     {'edit': 'door', 'name': 'den', 'line': [[1, 1], [1, 2]]}),
    ({'tool': 'keep_out', 'points': [[1, 1], [1, 2], [2, 2]]},
     {'edit': 'keep_out', 'name': 'den', 'polygon': [[1, 1], [1, 2], [2, 2]]}),
    # What no page of ours sends; edited() refuses it by name.
    (None, {'edit': None, 'name': 'den'}),
    ({'tool': ['move'], 'points': 3}, {'edit': ['move'], 'name': 'den'}),
    ({'tool': 'move', 'points': []}, {'edit': 'move', 'by': None}),
    ({'tool': 'move', 'points': ['x', {}]}, {'edit': 'move', 'by': None}),
    ({'tool': 'home', 'points': [None, 'ab']}, {'edit': 'home', 'at': None}),
])
def test_what_a_drawing_means(drawn: object, edit: object) -> None:
    assert plan_page.edit_of(drawn, 'den') == edit


@pytest.mark.parametrize(('drawn', 'edit'), [
    ({'tool': 'place', 'near': [1, None], 'points': [[0.1, 0], [0.6, -1]]},
     {'edit': 'move', 'place': 1, 'to': [0.5, -1]}),
    ({'tool': 'add', 'near': [None, None], 'points': [[1, 2]]}, {'edit': 'add', 'at': [1, 2]}),
    ({'tool': 'join', 'near': [1, 2], 'points': [[0, 0], [3, 4]]},
     {'edit': 'join', 'start': 1, 'end': 2, 'one_way': True}),
    ({'tool': 'erase', 'near': [2, None], 'points': [[3, 4]]}, {'edit': 'remove', 'place': 2}),
    ({'tool': 'erase', 'near': [[1, 2], None], 'points': [[1, 1]]},
     {'edit': 'cut', 'start': 1, 'end': 2}),
    # What no page of ours sends; edited() refuses it by name.
    (None, {'edit': None, 'at': None}),
    ({'tool': ['place'], 'points': 3}, {'edit': ['place'], 'at': None}),
    ({'tool': 'place', 'near': [[1], 2], 'points': [[0, 0], [1, 1]]},
     {'edit': 'move', 'place': [1], 'to': None}),
    ({'tool': 'place', 'near': [1, 2], 'points': ['x', {}]},
     {'edit': 'move', 'place': 1, 'to': None}),
    ({'tool': 'join', 'near': 7}, {'edit': 'join', 'start': None, 'end': None, 'one_way': True}),
])
def test_what_a_drawing_of_places_means(drawn: object, edit: object) -> None:
    graph = PlaceGraph(Path(), {1: Place(0, 0), 2: Place(3, 4)}, (Edge('3', 1, 2),))
    assert place_page.edit_of(drawn, graph, True) == edit


class Served:
    """The command, and its page."""

    def __init__(self, folder: Path, *words: str) -> None:
        self.folder = folder
        with pytest.MonkeyPatch.context() as here:
            here.chdir(folder)
            self.process = NodeProcess(
                COMMAND, folder / 'said.txt', ['map', *words, '--page', '--port', '0'],
                of_test=False)
        end = time.monotonic() + DEADLINE
        while not (found := re.search(r'the page is at (\S+)', self.process.output)):
            assert time.monotonic() < end and self.process.running, self.process.output
            time.sleep(0.05)
        self.address = found[1]


@pytest.fixture(scope='module')
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp('served')
    saved(folder, flat(DOOR))
    page = Served(folder, 'flat.yaml', *HOME)
    yield page
    page.process.kill()


@pytest.fixture(scope='module')
def driver(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """Yield a browser, of which the start takes longer than a test."""
    with browser(tmp_path_factory.mktemp('profile')) as driver:
        yield driver


def test_it_is_served_to_its_own_pages_alone(served: Served) -> None:
    with urlopen(served.address, timeout=DEADLINE) as answer:
        text = answer.read().decode()
    assert answer.status == 200 and 'flat.plan.yaml' in text and 'Keep-out' in text, text[:2000]
    with urlopen(f'{served.address}?language=de', timeout=DEADLINE) as answer:
        german = answer.read().decode()
    assert 'Werkzeuge' in german and 'Keep-out' not in german, german[:2000]
    for headers in ({'Origin': 'http://evil.example'}, {'Host': 'evil.example'}):
        with pytest.raises(HTTPError) as refused:
            urlopen(Request(served.address, headers=headers), timeout=DEADLINE)
        assert refused.value.code == 403
    assert load(served.folder / 'flat.plan.yaml').home == (0.5, 0.0, 0.0)    # as the flags have it


def test_a_port_in_use_is_said(
        tmp_path: Path, monkeypatch: pytest.MonkeyPatch, begin_command: Callable) -> None:
    monkeypatch.chdir(tmp_path)
    saved(tmp_path, flat(DOOR))
    with socket.create_server(('localhost', 0)) as used:
        port = str(used.getsockname()[1])
        command = begin_command('map', 'flat.yaml', *HOME, '--page', '--port', port)
        assert command.wait() == 1
    said = command.errors
    assert f"'localhost' and {port}" in said and 'Traceback' not in said


CLICK = """
const svg = document.querySelector('.plan-map svg'), matrix = svg.getScreenCTM();
for (const [type, x, y] of arguments[0]) {
    const at = new DOMPoint(x, -y).matrixTransform(matrix);
    svg.dispatchEvent(new PointerEvent(type, {
        clientX: at.x, clientY: at.y, button: 0, pointerId: 1, bubbles: true}));
}
"""


def drawn(tab: Tab, *events: tuple[str, float, float]) -> None:
    tab.driver.execute_script(CLICK.replace('svg.dispatchEvent', 'svg.setPointerCapture = '
                                            '() => {}, svg.dispatchEvent'), [*events])


def dragged(tab: Tab, start: tuple[float, float], end: tuple[float, float]) -> None:
    drawn(tab, ('pointerdown', *start), ('pointermove', *end), ('pointerup', *end))


def chosen(tab: Tab, tool: str, language: str = 'en') -> None:
    tab.driver.execute_script(
        '[...document.querySelectorAll(".tools button")].find(each => each.innerText.trim() '
        '=== arguments[0]).click()', phrase(f'tools.{tool}', language))
    tab.wait_for_text('.map-card', phrase(f'hints.{tool}', language))


def typed(tab: Tab, name: str, where: str = '.name-input') -> None:
    field = tab.driver.find_element('css selector', f'{where} input')
    field.send_keys('\ue009a\ue000\ue003', name)    # all of it is replaced
    tab.wait_for(lambda: field.get_attribute('value') == name, 'the name')


def moved_about(tab: Tab) -> None:
    """Zoom in and drag the picture, which edits nothing."""
    view = 'return document.querySelector(".plan-map svg").getAttribute("viewBox")'
    whole = tab.driver.execute_script(view)
    dragged(tab, (1.0, 0.0), (1.2, 0.0))
    assert tab.driver.execute_script(view) == whole
    tab.click('.zoom button')
    zoomed = tab.driver.execute_script(view)
    dragged(tab, (1.0, 0.0), (1.2, 0.0))
    assert len({whole, zoomed, tab.driver.execute_script(view)}) == 3
    tab.click('.zoom button:last-child')
    assert tab.driver.execute_script(view) == whole and tab.text('.chip') == 'saved'


def drawn_by_thumb(tab: Tab, corners: list[tuple[float, float]]) -> None:
    """Draw a polygon on a phone: each corner is seen, and the first one is hit by a thumb."""
    tab.driver.execute_cdp_cmd('Emulation.setDeviceMetricsOverride', {
        'width': 390, 'height': 844, 'deviceScaleFactor': 1, 'mobile': True})
    tab.wait_for(lambda: tab.driver.execute_script(
        'return document.querySelector(".plan-map svg").clientWidth') < 390, 'a small picture')
    for count, (x, y) in enumerate(corners, 1):
        drawn(tab, ('pointerdown', x, y))
        assert tab.count('.layer-sketch circle') == count
    reach = 10 / tab.driver.execute_script(    # of 14 pixels, in m
        'return document.querySelector(".plan-map svg").getScreenCTM().a')
    drawn(tab, ('pointerdown', corners[0][0] - reach, corners[0][1]))
    tab.driver.execute_cdp_cmd('Emulation.clearDeviceMetricsOverride', {})


@pytest.mark.skipif(bool(missing()), reason=missing() or 'nothing is missing')
def test_a_plan_is_edited_and_saved(served: Served, driver: Any) -> None:
    path = served.folder / 'flat.plan.yaml'
    before = load(path)
    driver.get(served.address)
    tab = Tab(driver)
    tab.wait_for(lambda: tab.count('.plan-map .cell') == len(before.reached), 'the cells')
    tab.wait_for_text('.chip', 'saved')
    moved_about(tab)
    chosen(tab, 'move')
    dragged(tab, (1.0, 0.0), (1.1, 0.0))
    tab.wait_for_text('.chip', 'not saved')
    chosen(tab, 'home')
    dragged(tab, (0.6, 0.0), (0.6, 0.5))
    chosen(tab, 'room')
    typed(tab, 'larder')
    drawn(tab, ('pointerdown', 4.0, 0.5))
    tab.wait_for_text('.things', 'larder (room)')
    tab.wait_for(lambda: _value(tab, '.name-input') == '', 'an empty name')
    typed(tab, 'larder')
    drawn(tab, ('pointerdown', 0.0, 0.0))
    tab.wait_for_text('.controls-card .result', 'expected a name that no other room has')
    assert _value(tab, '.name-input') == 'larder'
    chosen(tab, 'keep_out')
    typed(tab, 'stairs')
    corners = [(-0.8, 0.6), (-0.3, 0.6), (-0.3, 1.3), (-0.8, 1.3)]
    drawn_by_thumb(tab, corners)
    tab.wait_for_text('.things', 'stairs (keep-out)')
    assert path.read_text() and not load(path).keep_outs, 'nothing is written before'
    tab.click('.press-save')
    tab.wait_for_text('.chip', 'saved')
    tab.wait_for_text('.controls-card .result', 'saved: plan: flat.plan.yaml')
    tab.click('.press-forecast')
    tab.wait_for_text('.forecast-card', 'exploring with L = 1: ')
    saved_text = path.read_text()
    chosen(tab, 'home')
    dragged(tab, (2.05, 1.0), (2.05, 1.0))    # a wall
    tab.wait_for_text('.findings-card', 'is in a wall')
    tab.click('.press-save')
    tab.wait_for_text('.controls-card .result', 'WRONG: home (')
    path.write_text(saved_text)
    now = load(path)
    for found, corner in zip(now.keep_outs['stairs'], corners):
        assert found == pytest.approx(corner, abs=0.02)
    assert len(now.keep_outs['stairs']) == len(corners)
    assert 'larder' in now.rooms and now.home == pytest.approx((0.6, 0.0, 1.5708), abs=0.02)
    assert (served.folder / 'turtlebot.yaml').exists() and 'stairs' in path.with_suffix(
        '.svg').read_text()


@pytest.mark.skipif(bool(missing()), reason=missing() or 'nothing is missing')
def test_a_place_graph_is_edited_and_saved(tmp_path: Path, driver: Any) -> None:
    saved(tmp_path, flat(DOOR))
    page = Served(tmp_path, 'flat.yaml', '--spacing', '1.2')
    path = tmp_path / 'flat.geojson'
    before = read_geojson(path)
    try:
        driver.get(page.address)
        _edit_places(Tab(driver), path, before)
    finally:
        page.process.kill()


def _edit_places(tab: Tab, path: Path, before: PlaceGraph) -> None:
    one, *_ = (number for number in before.places if number != before.home)
    place = before.places[one]
    tab.wait_for(lambda: tab.count('.plan-map .place') == len(before.places) - 1, 'the places')
    tab.wait_for_text('.chip', 'saved')
    chosen(tab, 'place')
    dragged(tab, (place.x, place.y), (9.0, 9.0))
    tab.wait_for_text('.controls-card .result', 'is not free')
    tab.wait_for(lambda: not tab.count('.plan-map .place[transform]'), 'the place where it was')
    dragged(tab, (place.x + 0.02, place.y), (place.x + 0.12, place.y - 0.1))
    tab.wait_for_text('.chip', 'not saved')
    dragged(tab, (place.x + 0.1, place.y - 0.1), (place.x + 0.1, place.y - 0.1))
    tab.wait_for(lambda: _value(tab, '.name-field') == place.name, 'the place that was chosen')
    typed(tab, 'stove', '.name-field')
    tab.click('.press-rename')
    tab.wait_for(lambda: 'stove' in tab.driver.execute_script(
        'return document.querySelector(".layer-things").textContent'), 'the name')
    chosen(tab, 'add')
    drawn(tab, ('pointerdown', 3.1, 0.3))
    tab.wait_for_text('.findings-card', f'{len(before.places) + 1} places')
    tab.wait_for(lambda: _value(tab, '.x-input') == '3.100', 'the place that is new')
    chosen(tab, 'join')
    ways, last = tab.count('.plan-map .way'), before.places[max(before.places)]
    assert ways > len(before.joined)
    dragged(tab, (3.1, 0.3), (last.x, last.y))
    tab.wait_for(lambda: tab.count('.plan-map .way') == ways + 1, 'the edge that was drawn')
    chosen(tab, 'erase')
    home = before.places[before.home]
    drawn(tab, ('pointerdown', home.x, home.y))
    tab.wait_for_text('.controls-card .result', 'is home, expected another place')
    (x, y), cut = _middle_of_one(before, one)
    drawn(tab, ('pointerdown', x, y))
    tab.wait_for(lambda: not tab.count(cut), 'the edge gone')
    assert read_geojson(path) == before, 'nothing is written before'
    tab.click('.press-save')
    tab.wait_for_text('.controls-card .result', 'saved: graph: flat.geojson, picture: flat.svg')
    now = read_geojson(path)
    new, = now.places.keys() - before.places.keys()
    assert (now.places[one].x, now.places[one].y) == pytest.approx(
        (place.x + 0.1, place.y - 0.1), abs=0.02)
    assert now.places[one].name == 'stove' and 'stove' in path.with_suffix('.svg').read_text()
    assert (now.places[new].x, now.places[new].y) == pytest.approx((3.1, 0.3), abs=0.02)
    assert max(before.places) in {edge.end for edge in now.outgoing(new)} and not now.warnings
    tab.click('.press-remove')    # the place that is chosen, the new one
    tab.wait_for_text('.findings-card', f'{len(before.places)} places')
    tab.wait_for_text('.chip', 'not saved')
    tab.click('.press-undo')
    tab.wait_for_text('.findings-card', f'{len(before.places) + 1} places')


def _middle_of_one(graph: PlaceGraph, moved: int) -> tuple[tuple[float, float], str]:
    """Return the middle of an edge that may go, and how a page marks the edge."""
    for edge in graph.edges:
        rest = replace(graph, edges=tuple(each for each in graph.edges if {
            each.start, each.end} != {edge.start, edge.end}))
        if moved not in (edge.start, edge.end) and not any(rest.cut_off):
            start, end = graph.places[edge.start], graph.places[edge.end]
            return ((start.x + end.x) / 2, (start.y + end.y) / 2), (
                f'[data-start="{edge.start}"][data-end="{edge.end}"]')
    raise AssertionError('no such edge')


def _value(tab: Tab, where: str) -> str:
    return str(tab.driver.find_element('css selector', f'{where} input').get_attribute('value'))


TEXTS = """
const found = [...document.querySelectorAll('body *')].filter(each => !each.closest('.language'))
    .flatMap(each => [...each.attributes].filter(({ name }) => [
        'aria-label', 'title', 'placeholder', 'alt', 'aria-description'].includes(name)).map(
            ({ value }) => value));
const titles = [...document.querySelectorAll('svg title')].map(each => each.textContent);
return [...found, ...titles, ...document.body.innerText.split('\\n')];
"""


def read(tab: Tab) -> set[str]:
    """Return all that a page says but for its link to another language."""
    return {text.strip() for text in tab.driver.execute_script(TEXTS)} - {'', 'English'}


@pytest.mark.skipif(bool(missing()), reason=missing() or 'nothing is missing')
def test_the_page_of_a_plan_in_german_says_nothing_in_english(
        tmp_path: Path, driver: Any) -> None:
    saved(tmp_path, flat(DOOR))
    page = Served(tmp_path, 'flat.yaml', *HOME, '--language', 'de')
    try:
        driver.get(page.address)
        told = _plan_told(Tab(driver))
    finally:
        page.process.kill()
    assert {'Werkzeuge', 'Rückgängig', 'A (Raum)', 'A-B (Tür)', 'stairs (Sperrfläche)', 'Start',
            'gespeichert', 'nicht gespeichert', 'alles zeigen', 'hell oder dunkel'} <= told
    assert english_in(told, 'de') == []


def _plan_told(tab: Tab) -> set[str]:
    tab.wait_for_text('.findings-card', 'Orte vom Start aus erreichbar')
    told = read(tab)
    for tool in plan_page.PlanPage.tools:
        chosen(tab, tool, 'de')
        told |= read(tab)
    typed(tab, 'stairs')
    corners = [(-0.8, 0.6), (-0.3, 0.6), (-0.3, 1.3), (-0.8, 1.3)]
    drawn(tab, *(('pointerdown', x, y) for x, y in (*corners, corners[0])))
    tab.wait_for_text('.things', 'stairs (Sperrfläche)')
    told |= read(tab)
    tab.click('.press-rename')
    tab.wait_for_text('.controls-card .result', 'erwartet ist ein Name aus 1 bis 60')
    told |= read(tab)
    tab.click('.press-forecast')
    tab.wait_for_text('.forecast-card', 'die Erkundung mit L = 1: ')
    told |= read(tab)
    chosen(tab, 'home', 'de')
    dragged(tab, (2.05, 1.0), (2.05, 1.0))    # a wall
    tab.wait_for_text('.findings-card', 'FEHLER: Start (2,05; 1,00) liegt in einer Wand')
    tab.click('.press-save')
    tab.wait_for_text('.controls-card .result', 'FEHLER: Start (')
    tab.click('.press-forecast')
    tab.wait_for_text('.forecast-card', 'nichts kann erkundet werden')
    return told | read(tab)


@pytest.mark.skipif(bool(missing()), reason=missing() or 'nothing is missing')
def test_the_page_of_places_in_german_says_nothing_in_english(
        tmp_path: Path, driver: Any) -> None:
    saved(tmp_path, flat(DOOR))
    page = Served(tmp_path, 'flat.yaml', '--spacing', '1.2')
    path = tmp_path / 'flat.geojson'
    try:
        driver.get(page.address)
        tab = Tab(driver)
        tab.wait_for_text('.chip', 'saved')
        tab.click('.head .language')    # to German
        told = _places_told(tab, read_geojson(path), path)
    finally:
        page.process.kill()
    assert {'Werkzeuge', 'anderer Ort', 'x in m', 'Trennen', 'Start'} <= told
    assert english_in(told, 'de') == []


def _places_told(tab: Tab, graph: PlaceGraph, path: Path) -> set[str]:
    tab.wait_for_text('.findings-card', '13 Orte, 22 Wege dazwischen; Start ist A 3')
    told = read(tab)
    for tool in place_page.PlacePage.tools:
        chosen(tab, tool, 'de')
        told |= read(tab)
    home = graph.places[graph.home]
    drawn(tab, ('pointerdown', home.x, home.y))    # with the last tool
    tab.wait_for_text('.controls-card .result', 'Entfernen: A 3 ist der Start')
    told |= read(tab)
    chosen(tab, 'add', 'de')
    drawn(tab, ('pointerdown', 2.05, 1.0))
    tab.wait_for_text('.controls-card .result', '(2,05; 1,00) ist nicht frei')
    told |= read(tab)
    tab.click('.press-forecast')
    tab.wait_for_text('.forecast-card', 'alles zu erkunden dauert mit 0,2 m/s etwa ')
    path.write_text(path.read_text().replace('"A 1"', '"A 9"'))
    tab.click('.press-save')
    tab.wait_for_text('.controls-card .result', 'ein anderes Programm hat die Datei geändert')
    return told | read(tab)


@pytest.mark.parametrize('number', [
    signal.SIGTERM, pytest.param(signal.SIGINT, marks=thorough(
        shown_by='nodes/test_plan_page.py::test_it_ends_with_a_signal'))])
def test_it_ends_with_a_signal(served: Served, number: int) -> None:
    """With the signal that interrupts a program, too, of which it has the same handler."""
    page = served if served.process.running else Served(
        served.folder, 'flat.plan.yaml', *RADIUS)
    try:
        page.process.send(number)
        assert page.process.wait() == 0 and 'Traceback' not in page.process.output
    finally:
        page.process.kill()
