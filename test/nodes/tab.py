# SPDX-License-Identifier: Apache-2.0

"""The page in a browser, as a test sees it."""

from __future__ import annotations

from collections.abc import Callable
import time
from typing import Any

from node_processes import DEADLINE


class Tab:
    """The page in a browser, as somebody sees it who waits for what should come."""

    def __init__(self, driver: Any) -> None:
        self.driver = driver

    def text(self, selector: str) -> str:
        """Return what is written in the first element that fits, hidden ones being empty."""
        return self.driver.execute_script(
            'return document.querySelector(arguments[0])?.innerText ?? ""', selector)

    def count(self, selector: str) -> int:
        return self.driver.execute_script(
            'return document.querySelectorAll(arguments[0]).length', selector)

    def style(self, selector: str, name: str) -> str:
        return self.driver.execute_script(
            'return getComputedStyle(document.querySelector(arguments[0]))[arguments[1]]',
            selector, name)

    def click(self, selector: str) -> None:
        """Click where a pointer would."""
        self.driver.find_element('css selector', selector).click()

    def wait_for(self, condition: Callable[[], Any], what: str) -> Any:
        end = time.monotonic() + DEADLINE
        while True:
            try:
                value = condition()
            except Exception as error:    # the page may be loading anew
                value, what = None, f'{what} ({error})'[:500]
            if value:
                return value
            assert time.monotonic() < end, f'waited {DEADLINE} s in vain: {what}; the page: ' + (
                self.text('body'))
            time.sleep(0.1)

    def wait_for_count(self, selector: str) -> None:
        self.wait_for(lambda: self.count(selector), selector)

    def wait_for_text(self, selector: str, text: str) -> None:
        self.wait_for(lambda: text in self.text(selector), f'{text!r} in {selector}')
