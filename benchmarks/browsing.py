# SPDX-License-Identifier: Apache-2.0

"""A browser without a screen, for tests and pictures of the page."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
import shutil
from typing import Any

ARGUMENTS = (
    '--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run',
    '--disable-background-networking', '--disable-component-update', '--disable-sync',
    '--disable-dev-shm-usage')


def missing() -> str:
    """Return what the page in a browser needs and is not here; empty if all is."""
    for module in ('nicegui', 'selenium'):
        if find_spec(module) is None:
            return f'{module} is not installed'
    for program in ('chromium', 'chromedriver'):
        if shutil.which(program) is None:
            return f'{program} is not installed'
    return ''


@contextmanager
def browser(folder: Path, width: int = 1280, height: int = 900) -> Iterator[Any]:
    """Give a browser with a profile of its own."""
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service
    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which('chromium')
    for argument in (*ARGUMENTS, f'--user-data-dir={folder}', f'--window-size={width},{height}'):
        options.add_argument(argument)
    driver = webdriver.Chrome(options=options, service=Service(shutil.which('chromedriver')))
    try:
        yield driver
    finally:
        driver.quit()
