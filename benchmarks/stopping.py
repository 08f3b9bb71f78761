# SPDX-License-Identifier: Apache-2.0

"""How long a press of Stop on the page takes, until a word is there and until the wheels stand."""

from __future__ import annotations

from collections.abc import Sequence
import os
from pathlib import Path
import time
from typing import Any, NamedTuple

from screenshots import opened, wait_for

WORLD = 'two_room_flat'
AT_REST = 1e-3      # m/s and rad/s, below which wheels stand
LOOK = 0.005        # s, between two looks
PATIENCE = 30.0     # s
BEFORE = 1.5        # s of driving before a press


class Press(NamedTuple):
    """
    What came of one press, in s after it.

    :ivar load: processes that want to run, by the mean of a minute.
    :ivar word: until the page said something of it.
    :ivar stopped: until it said that the robot is stopped.
    :ivar wheels: until they stood; 0 if the robot was at rest.
    """

    load: float
    word: float
    stopped: float
    wheels: float


class Wheels:
    """Hears how fast the robot is, by its odometry."""

    def __init__(self) -> None:
        from mnm_ros import messages
        from mnm_ros.subscriptions import Listener
        from nav_msgs.msg import Odometry
        self._listener = Listener()
        self._listener.__enter__()
        self.moving = False
        self._listener._node.create_subscription(Odometry, 'odom', self._hear, messages.STEP)

    def _hear(self, message: Any) -> None:
        speed = message.twist.twist
        self.moving = max(abs(speed.linear.x), abs(speed.angular.z)) > AT_REST

    def look(self, seconds: float = LOOK) -> None:
        """Take in what comes in so many seconds."""
        self._listener.listen(seconds)

    def close(self) -> None:
        """End it."""
        self._listener.__exit__()


def press(driver: Any, wheels: Wheels) -> Press:
    """Press Stop while the robot drives, and Go on afterwards."""
    def click(name: str) -> None:
        driver.execute_script(f'document.querySelector(".press-{name}").click()')

    def told() -> str:
        return str(driver.execute_script('return document.querySelector(".told").innerText'))

    end = time.monotonic() + BEFORE
    while time.monotonic() < end or not wheels.moving and time.monotonic() < end + PATIENCE:
        wheels.look()
    moving, before = wheels.moving, told()
    began = time.monotonic()
    click('stop')
    word = stopped = stood = 0.0
    while not (stopped and (stood or not moving)) and time.monotonic() < began + PATIENCE:
        wheels.look()
        now, text = time.monotonic() - began, told()
        stood = stood or (0.0 if wheels.moving else now)
        word = word or (now if text != before else 0.0)
        stopped = stopped or (now if '\u2713 stopped' in text else 0.0)
    click('resume')
    wait_for(lambda: '\u2713' in told() and 'Go on' in told(), 'Go on', PATIENCE)
    return Press(os.getloadavg()[0], word, stopped, stood if moving else 0.0)


def measure(times: int, folder: Path) -> list[Press]:
    """Press Stop so many times while a simulated flat is explored."""
    with opened(WORLD, folder) as driver:
        wheels = Wheels()
        try:
            wait_for(lambda: wheels.look() or wheels.moving, 'a robot that drives', 120.0)
            found = []
            for number in range(times):
                found.append(press(driver, wheels))
                print(f'{number + 1:3}: ' + in_words(found[-1]), flush=True)
            return found
        finally:
            wheels.close()


def in_words(one: Press) -> str:
    """Return what came of a press as a line."""
    return (f'a word after {one.word:.2f} s, "stopped" after {one.stopped:.2f} s, wheels at rest '
            f'after {one.wheels:.2f} s (load {one.load:.1f})')


def worst(found: Sequence[Press]) -> str:
    """Return the longest of all presses as a line."""
    return 'at most: ' + in_words(Press(*(max(column) for column in zip(*found))))
