# SPDX-License-Identifier: Apache-2.0

"""The page of the dashboard in a real browser, with real nodes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
import re
import signal
import socket
import sys
from urllib.parse import urlsplit
from urllib.request import urlopen

from mnm_ros.checkpoint.input_log import InputLog
from mnm_ros.core.exploration import Exploration
from mnm_ros.core.model.problem import Problem
from mnm_ros.core.presets import OPTIONS, settings
from mnm_ros.simulation.scenario import load
from mnm_ros.simulation.simulator import Simulator
from node_processes import DEADLINE, NodeProcess, Peer, slow_down
import pytest
from tab import Tab

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / 'benchmarks'))

from browsing import browser, missing  # noqa: E402, I100

HOME, LEFT, RIGHT, TAB, ENTER = '\ue011', '\ue012', '\ue014', '\ue004', '\ue007'
"""Keys, as WebDriver has them."""

pytestmark = pytest.mark.skipif(bool(missing()), reason=missing() or 'nothing is missing')


def address_of(dashboard: NodeProcess, peer: Peer) -> str:
    return peer.wait_for(
        lambda: re.search(r'the page is at (\S+)', dashboard.output), 'the address')[1]


def answer_to_websocket(address: str, origin: str) -> str:
    """Return the first line of the answer to a page of another origin that opens a websocket."""
    host = urlsplit(address).netloc
    with socket.create_connection(host.split(':'), timeout=DEADLINE) as connection:
        connection.sendall((
            f'GET /_nicegui_ws/socket.io/?EIO=4&transport=websocket HTTP/1.1\r\nHost: {host}\r\n'
            f'Origin: {origin}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n'
            'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n'
        ).encode())
        return connection.recv(4096).partition(b'\r\n')[0].decode()


def test_looked_at_and_operated(
        start: Callable, explorer: Callable, peer: Peer, scenario: str, tmp_path: Path) -> None:
    dashboard, log = start('dashboard', port=0), str(corridor_log(tmp_path))
    start('cmp_sim', scenario=scenario, latency=0.01)
    start('navigator')
    exploring = explorer()
    address = address_of(dashboard, peer)
    with browser(tmp_path / 'profile') as driver:
        driver.get(address)
        tab = Tab(driver)
        tab.wait_for_text('.tile-known .value', '3')
        slow_down(peer, pause=0.3)    # enough is known, and each step is drawn
        shown(tab, peer)
        in_sight_on_a_phone(tab)
        labelled(tab)
        by_keyboard(tab)
        operated(tab, peer)
        moved_back(tab)
        nothing_from_elsewhere(tab, address)

        # An explorer that is killed is told of, and the one that comes after it is found.
        exploring.kill()
        tab.wait_for_text('.presence', 'has been silent for')
        assert re.search(r'Last message at \d\d:\d\d:\d\d', tab.text('.presence'))
        assert tab.count('.stale .tiles') == 1 and 'grayscale' in tab.style('.tiles', 'filter')
        assert tab.count('.press-pause[disabled]') == 1
        explorer(max_steps=1)
        tab.wait_for_text('.chip', 'done')
        tab.wait_for(lambda: tab.text('.presence') == '', 'no more silence')
        assert tab.count('.stale') == 0
        tab.wait_for_text('.tile-known .value', '0')    # what the other one knew is forgotten

        # So is the dashboard itself, be it that of a log that comes after it.
        assert dashboard.stop(signal.SIGTERM, limit=5.0) == 0
        tab.wait_for_text('#popup', 'Connection lost')
        tab.wait_for_text('.offline-since', 'No connection to this page')
        assert 'grayscale' in tab.style('.bar-row', 'filter')
        assert re.search(r'since \d\d:\d\d:\d\d\.', tab.text('.offline-since'))
        start('dashboard', port=urlsplit(address).port, log=log)
        played(tab)
        assert tab.text('#popup') == '' and not tab.count('.offline, .offline-since')
        in_german(tab)


def shown(tab: Tab, peer: Peer) -> None:
    tab.wait_for(lambda: tab.count('.state.known, .state.home') == 3, 'the states of the corridor')
    tab.wait_for(lambda: tab.count('.layer-links path') == 4, 'an arrow for each transition')
    tab.wait_for(lambda: tab.count('.machine .phase.lit') == 1, 'the phase lit')
    tab.wait_for(lambda: tab.text('.doing').strip(), 'what it is doing')
    tab.click('[data-id="2"] circle')
    tab.wait_for_text('.choice', 'State 2')
    tab.wait_for(lambda: tab.count('path.way') == 2, 'the policy from 0 over 1 to 2')
    tab.wait_for(lambda: re.search(r'from home: \d+\.\d+, limit 8', tab.text('.about')),
                 'expected steps of the policy')
    assert re.search(r'west, [\d,]+ times: 100% to 1', tab.text('.about'))
    assert tab.count('.chart svg') == 1
    tab.wait_for_text('.events', 'Home is state 0')


IN_SIGHT = """
return scrollY > 300 && [...document.querySelectorAll('.bar-row .press')].every(button => {
    const box = button.getBoundingClientRect();
    return box.top >= 0 && box.bottom <= 200 && box.left >= 0 && box.right <= 390
        && box.height >= 44 && (button.classList.contains('disabled') || button.contains(
            document.elementFromPoint((box.left + box.right) / 2, (box.top + box.bottom) / 2)));
});
"""


def in_sight_on_a_phone(tab: Tab) -> None:
    """See the bar where it can be touched, also at the very bottom of the page."""
    tab.driver.execute_cdp_cmd('Emulation.setDeviceMetricsOverride', {
        'width': 390, 'height': 844, 'deviceScaleFactor': 1, 'mobile': True})
    tab.wait_for(lambda: tab.driver.execute_script(
        f'scrollTo(0, document.documentElement.scrollHeight); {IN_SIGHT}'), 'the bar in sight')
    assert tab.count('.bar-row .press') == 4
    tab.driver.execute_cdp_cmd('Emulation.clearDeviceMetricsOverride', {})
    tab.driver.execute_script('scrollTo(0, 0)')


def in_german(tab: Tab) -> None:
    """Choose the other language on the page; each has a link to the other one."""
    tab.click('a.language[lang=de]')
    tab.wait_for_text('.events', 'Start ist Zustand 0')
    tab.wait_for(lambda: tab.count('.state[aria-label$="bekannt"]'), 'a label of a state')
    tab.wait_for_text('.controls-card', 'Diese Seite zeigt nur an.')
    assert tab.driver.execute_script('return document.documentElement.lang') == 'de'
    back = tab.driver.find_element('css selector', 'a.language[lang=en]').get_attribute('href')
    with urlopen(back, timeout=DEADLINE) as answer:
        assert 'This page is read-only.' in answer.read().decode()


CONTROLS = """
const kinds = 'button, input, a[href], [tabindex="0"], [role=button]';
return [...document.querySelectorAll(kinds)].filter(
    each => !each.closest('[style*="display: none"], .hidden') && each.getClientRects().length
        && !each.disabled && each.getAttribute('aria-disabled') !== 'true');
"""


def labelled(tab: Tab) -> None:
    """See that a screen reader has a name for each control, and headings and landmarks."""
    controls = tab.wait_for(lambda: tab.driver.execute_script(CONTROLS), 'controls')
    assert len(controls) > 10
    assert [each.get_attribute('outerHTML') for each in controls
            if not each.accessible_name.strip()] == []
    assert tab.count('main') == tab.count('header') == tab.count('[aria-level="1"]') == 1
    assert tab.count('[aria-level="2"]') >= 5
    assert tab.count('.consequences[role=status]') == 1


NAMED = """
window.named = at => at === document.body ? null : at.dataset.id ? `state ${at.dataset.id}`
    : [...at.classList].find(name => name.startsWith('press-')) || at.getAttribute('aria-label')
        || at.tagName;
window.reached = [];
document.addEventListener('focusin', event => reached.push(named(event.target)));
"""
FOCUSED = 'return named(document.activeElement)'


def by_keyboard(tab: Tab) -> None:
    """Come to each control with the Tab key, go over the map by arrows, and press a button."""
    tab.driver.execute_script(NAMED)
    reached: list[str] = []
    while len(reached) < 80 and not {*reached[:1]} & {*reached[1:]}:    # once round
        tab.driver.switch_to.active_element.send_keys(20 * TAB)
        reached = tab.driver.execute_script('return reached')
    reached = reached[:reached.index(reached[0], 1)]
    wanted = {f'press-{name}' for name in ('stop', 'pause', 'home', 'change', 'go', 'cancel')
              if tab.count(f'.press-{name}:not([disabled])')}
    assert len(wanted) >= 4 and wanted <= {*reached}, reached
    assert {'nearer', 'farther', 'show everything', 'moment shown', 'to state', 'what happened',
            'light or dark'} <= {*reached}, reached
    assert sum(name.startswith('state ') for name in reached) == 1, reached    # not one for each
    tab.driver.execute_script('document.querySelector("[data-id=\\"0\\"]").focus()')
    for arrow, state in ((RIGHT, '1'), (RIGHT, '2'), (LEFT, '1')):
        tab.driver.switch_to.active_element.send_keys(arrow)
        assert tab.driver.execute_script(FOCUSED) == f'state {state}'
    for keys, chosen in ((ENTER, 'State 1'), (RIGHT + ENTER, 'State 2')):
        for key in keys:
            tab.driver.switch_to.active_element.send_keys(key)
        tab.wait_for_text('.choice', chosen)
    for button, sign in (('pause', 'Pause'), ('resume', 'Go on')):
        tab.wait_for_count(f'.press-{button}:not([disabled])')
        tab.driver.find_element('css selector', f'.press-{button}').send_keys(ENTER)
        tab.wait_for_text('.told', f'{sign}: \u2713')
    tab.wait_for(lambda: 'paused' not in tab.text('.chip'), 'that it goes on')


def moved_back(tab: Tab) -> None:
    """Slide to the first moment by the keyboard; the buttons act on the present all the while."""
    slider = tab.driver.find_element('css selector', '.time input')
    tab.wait_for(lambda: int(slider.get_attribute('max')) > 1, 'two moments')
    assert tab.count('.past') == 0 and tab.style('.past-bar', 'display') == 'none'
    slider.send_keys(HOME)
    tab.wait_for_text('.past-bar', 'The past is shown')
    then = re.search(r'\d\d:\d\d:\d\d, step ([\d,]+)', tab.text('.past-bar'))[1]
    assert slider.get_attribute('value') == '0' and tab.count('.page.past') == 1
    tab.click('.press-stop')
    tab.wait_for_text('.chip', 'stopped')
    tab.click('.press-resume')
    tab.wait_for(lambda: 'stopped' not in tab.text('.chip'), 'that it is free')
    assert tab.text('.tile-steps .value') == then and 'stopped' not in tab.text('.doing')
    shown = tab.text('.past-bar')
    slider.send_keys(RIGHT)    # to a moment that may be of the same step: something else happened
    tab.wait_for(lambda: tab.text('.past-bar') not in ('', shown), 'the next moment')
    assert f'step {tab.text(".tile-steps .value")}' in tab.text('.past-bar')
    tab.click('.press-now')
    tab.wait_for(lambda: tab.count('.past') == 0, 'that it is now')
    assert tab.style('.past-bar', 'display') == 'none'
    assert tab.driver.execute_script('return arguments[0].value === arguments[0].max', slider)


def operated(tab: Tab, peer: Peer) -> None:
    tab.click('.press-stop')
    tab.wait_for_text('.told', 'Stop: \u2713 stopped')
    tab.wait_for_text('.chip', 'stopped')
    tab.click('.press-resume')
    tab.wait_for(lambda: 'stopped' not in tab.text('.chip'), 'that it is free')
    tab.click('.press-home')
    tab.wait_for_text('.told', 'Home: \u2713 at home')
    tab.wait_for_text('.chip', 'paused')
    assert tab.count('.press-pause[disabled]') == 1
    tab.click('.press-load')
    tab.wait_for_text('.control:has(.press-load) .result', 'checkpoint_dir')    # a refusal
    tab.click('.press-resume')
    tab.wait_for_text('.chip', 'checking')
    tab.click('.press-go')
    tab.wait_for_text('.controls-card', 'reached state 2 in')
    tab.click('.press-cancel')
    tab.wait_for_text('.controls-card', 'Cancel: \u2717 no goal is under way')
    # What has just been reached moves the controls, so that a click may miss.
    tab.wait_for(lambda: tab.click('.press-change') or any(
        sign in tab.text('.control:has(.press-change) .result') for sign in '\u2713\u2717'),
        'an answer')


def corridor_log(folder: Path) -> Path:
    """Write the log of 300 steps in a corridor."""
    scenario = load('corridor')
    simulator = Simulator(scenario, 1)
    exploration = Exploration(settings(Problem(2, 4.0, 1.0, 0.1), 'onboard'), 3)
    log = InputLog.create(folder / 'explorer.log.sqlite', {
        'actions': list(scenario.actions), 'radius': 4.0, 'epsilon': 1.0, 'delta': 0.1,
        'preset': 'onboard', 'seed': 3, 'version': '0.1.0',
        **{option.name: option.default for option in OPTIONS}}, None)
    for _ in range(300):
        action = exploration.next_action()
        log.append([exploration.observe(action, simulator.step(action)).input])
    log.close()
    return folder / 'explorer.log.sqlite'


def played(tab: Tab) -> None:
    """See a log from its end and from its beginning, and nothing of a robot."""
    tab.wait_for_text('.tile-steps .value', '300')
    assert 'explorer.log.sqlite' in tab.text('.where') and tab.count('.bar-row') == 0
    assert tab.text('.presence') == '' and tab.text('.time .ends').split() == [
        'step', '1', 'the', 'end']
    tab.wait_for(lambda: tab.count('.state') == 4, 'all states, which are drawn after the text')
    tab.driver.find_element('css selector', '.time input').send_keys(HOME)
    tab.wait_for_text('.past-bar', 'Shown: step 1')
    tab.wait_for(lambda: 0 < tab.count('.state') < 4, 'fewer states')
    assert tab.text('.tile-steps .value') == '1'
    tab.click('.press-now')
    tab.wait_for_text('.tile-steps .value', '300')


def nothing_from_elsewhere(tab: Tab, address: str) -> None:
    loaded = tab.driver.execute_script(
        'return performance.getEntriesByType("resource").map(entry => entry.name)')
    assert len(loaded) > 5
    assert [name for name in loaded if not name.startswith((address, 'data:'))] == []
    assert '101' in answer_to_websocket(address, address.rstrip('/'))
    assert '403' in answer_to_websocket(address, 'http://evil.example')
