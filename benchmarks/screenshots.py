# SPDX-License-Identifier: Apache-2.0

"""
Take pictures of the page while scenarios are explored: light and dark, on a screen and a phone.

    benchmarks/screenshots --output /tmp/pages
    benchmarks/screenshots --output /tmp/pages two_rooms two_room_flat
    benchmarks/screenshots --figure docs/figures/page.png

Two pictures are taken of each: while the first hypothesis is built, and once it is there and
the state learnt last has been clicked on. It also says if something on the page reaches over
its edge. With --figure it takes one instead: of the simulated flat, after its door has closed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
import os
from pathlib import Path
import re
import signal
import subprocess
import sys
import tempfile
import time
from typing import Any

from arguments import Arguments
from browsing import browser, missing
from mnm_ros.console import environment
from mnm_ros.simulation import scenario, world
from PIL import Image

ROOT = Path(__file__).resolve().parents[1]
SIZES = (1280, 390)
SCHEMES = ('light', 'dark')
PACE = {'cmp_sim': ('-p', 'latency:=0.01'), 'diff_drive_sim': ()}    # to be seen while it builds
LEARNT = 240.0      # s, that the first hypothesis may take
LOST = 5            # states of two_room_flat, once its door has closed

OVERHANG = """
const wide = document.documentElement.clientWidth;
return [...document.querySelectorAll('.page *, .head *')].filter(element => {
    const box = element.getBoundingClientRect();
    return box.width && (box.right > wide + 1 || box.left < -1) && !element.closest('svg');
}).map(element => element.className || element.tagName);
"""


def picture(driver: Any, path: Path, width: int, scheme: str) -> None:
    """Take a picture of the whole page."""
    def size(height: int) -> None:
        driver.execute_cdp_cmd('Emulation.setDeviceMetricsOverride', {
            'width': width, 'height': height, 'deviceScaleFactor': 1, 'mobile': width < 600})

    size(900)
    driver.execute_cdp_cmd('Emulation.setEmulatedMedia', {
        'features': [{'name': 'prefers-color-scheme', 'value': scheme}]})
    time.sleep(0.8)    # in which the chart takes the new size
    size(driver.execute_script('return document.documentElement.scrollHeight'))
    time.sleep(0.8)
    driver.save_screenshot(str(path))
    over = sorted({str(name) for name in driver.execute_script(OVERHANG)})
    print(f'{path}{": over the edge: " + ", ".join(over) if over else ""}', flush=True)


def wait_for(condition: Callable[[], Any], what: str, seconds: float) -> Any:
    """Return what the condition is, once it is anything."""
    end = time.monotonic() + seconds
    while not (value := condition()):
        if time.monotonic() > end:
            raise TimeoutError(f'waited {seconds:g} s in vain for {what}')
        time.sleep(0.2)
    return value


@contextmanager
def opened(name: str, folder: Path, *given: str) -> Iterator[Any]:
    """Explore a scenario or a world, and give a browser with its page."""
    command = [sys.executable, '-m', 'mnm_ros', 'explore', name, '--page', '-p', 'port:=0', *given]
    with (folder / 'log.txt').open('w') as file, subprocess.Popen(
            command, stdout=file, stderr=subprocess.STDOUT) as process:
        try:
            address = wait_for(lambda: served(process.pid), 'the page', 90.0)
            with browser(folder / 'profile') as driver:
                driver.get(address)
                yield driver
        finally:
            process.send_signal(signal.SIGINT)
            process.wait(timeout=30)


def photograph(name: str, output: Path, folder: Path) -> None:
    """Take pictures while the first hypothesis is built, and once it is there."""
    simulator = 'diff_drive_sim' if name in world.shipped() else 'cmp_sim'
    with opened(name, folder, *PACE[simulator]) as driver:
        def text(selector: str) -> str:
            return str(driver.execute_script(
                'return document.querySelector(arguments[0])?.innerText ?? ""', selector))

        wait_for(lambda: text('.tile-steps .value') not in ('', '0'), 'steps', 60.0)
        time.sleep(1.0)
        take(driver, output, f'{name}-building')
        if simulator == 'cmp_sim':
            hurry()
        wait_for(lambda: text('.tile-known .value') not in ('', '0'),
                 f'the first hypothesis of {name}', LEARNT)
        choose(driver)
        take(driver, output, f'{name}-checking')


def figure(path: Path, folder: Path) -> None:
    """Take the picture of the documentation."""
    with opened('two_room_flat', folder) as driver:
        wait_for(lambda: shown(driver, 'lost') >= LOST, 'states that are lost', 2 * LEARNT)
        choose(driver)
        picture(driver, folder / 'page.png', SIZES[0], SCHEMES[0])
    with Image.open(folder / 'page.png') as taken:    # a third of the size
        taken.convert('RGB').quantize(dither=Image.Dither.NONE).save(path, optimize=True)
    print(f'{path} written')


def shown(driver: Any, kind: str) -> int:
    """Return how many states of a kind are on the map."""
    return int(driver.execute_script(
        'return document.querySelectorAll(".state." + arguments[0]).length', kind))


def choose(driver: Any) -> None:
    """Click on the state that was learnt last."""
    wait_for(lambda: shown(driver, 'known'), 'a state', 10.0)
    driver.execute_script(
        '[...document.querySelectorAll(".state.known circle")].at(-1)'
        '.dispatchEvent(new MouseEvent("click", {bubbles: true}))')
    time.sleep(2.0)


def hurry() -> None:
    """Let cmp_sim answer at once."""
    from mnm_ros.command.service_client import ServiceClient
    from rcl_interfaces.srv import SetParameters
    from rclpy.parameter import Parameter
    request = SetParameters.Request(
        parameters=[Parameter('latency', value=0.0).to_parameter_msg()])
    with ServiceClient('/', (), 10.0) as client:
        client.call(SetParameters, 'cmp_sim/set_parameters', request, 'cmp_sim', repeat=True)


def served(parent: int) -> str:
    """Return the address of the page that a child of a process serves, or nothing."""
    for path in Path('/proc').glob('[0-9]*/stat'):
        try:
            is_child = int(path.read_text().rpartition(')')[2].split()[1]) == parent
            command = (path.parent / 'cmdline').read_text() if is_child else ''
        except OSError:    # it has ended
            continue
        if 'nodes.dashboard' in command:
            output = (path.parent / 'fd' / '1').resolve()
            found = re.search(r'the page is at (\S+)', output.read_text())
            return found[1] if found else ''
    return ''


def take(driver: Any, output: Path, name: str) -> None:
    """Take all pictures of one moment, or nearly one."""
    for width in SIZES:
        for scheme in SCHEMES:
            picture(driver, output / f'{name}-{width}-{scheme}.png', width, scheme)


def main() -> int:
    everything = (*scenario.shipped(), *world.shipped())
    parser = Arguments(__doc__)
    parser.add_argument('--output', type=Path, metavar='FOLDER',
                        default=Path(tempfile.gettempdir(), 'mnm_ros_pages'),
                        help='where to write them (default %(default)s)')
    parser.add_argument('--figure', type=Path, metavar='FILE',
                        help='where to write the one of the documentation')
    parser.add_argument('names', nargs='*', metavar='NAME', help=', '.join(everything))
    given = parser.read()
    if missing():
        print(f'benchmarks/screenshots: {missing()}', file=sys.stderr)
        return 1
    unknown = {*given.names} - {*everything}
    if unknown:
        parser.error(f'{", ".join(unknown)}: expected some of {", ".join(everything)}')
    environment.prepare(os.environ)
    if given.figure:
        with tempfile.TemporaryDirectory(prefix='mnm_ros_page_') as folder:
            figure(given.figure, Path(folder))
        return 0
    given.output.mkdir(parents=True, exist_ok=True)
    failed = 0
    for name in given.names or everything:
        with tempfile.TemporaryDirectory(prefix='mnm_ros_page_') as folder:
            try:
                photograph(name, given.output, Path(folder))
            except TimeoutError as error:
                failed = 1
                print(f'{name}: {error}', file=sys.stderr, flush=True)
    return failed


if __name__ == '__main__':
    sys.exit(main())
