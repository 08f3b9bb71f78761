# SPDX-License-Identifier: Apache-2.0

"""The colours of the page are far enough apart to be read: WCAG 2.1, level AA, light and dark."""

from __future__ import annotations

import re

from late import late
from mnm_ros.view.scene import KINDS
import pytest

late('nicegui')
parts = late('mnm_ros.page.page_parts')

TEXT, GRAPHIC = 4.5, 3.0    # least ratios of contrast, success criteria 1.4.3 and 1.4.11

TEXTS = {
    'ink': ('back', 'card', 'track'), 'soft': ('back', 'card'), 'on-fill': (
        'known', 'doubted', 'lost', 'robot', 'candidate'),
    'known': ('card',), 'doubted': ('card',), 'lost': ('card',), 'candidate': ('card',),
    'robot': ('card',)}
"""By the colour of a text, the grounds that it stands on."""

GRAPHICS = {
    'certified': ('card',), 'assumed': ('card',), 'met': ('card',), 'wall': ('card',),
    'link': ('card',), 'home': ('card',), 'press': ('card',), 'robot': ('track',),
    'candidate': ('track',)}

FIXED = {'#ffffff'}    # on the buttons, which have the same ground in both themes but for --press


def palette(theme: str) -> dict[str, str]:
    """Return the colours by name; the dark theme replaces some."""
    found: dict[str, str] = {}
    for dark, body in re.findall(r'\bbody(\.body--dark)? \{(.*?)\}', parts.STYLE, re.DOTALL):
        if theme == 'dark' or not dark:
            found.update(re.findall(r'--([\w-]+): (#[0-9a-f]{6})', body))
    return found


def luminance(colour: str) -> float:
    parts = [int(colour[at:at + 2], 16) / 255 for at in (1, 3, 5)]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4
                        for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    dark, light = sorted((luminance(one), luminance(other)))
    return (light + 0.05) / (dark + 0.05)


def test_contrast_is_as_wcag_defines_it() -> None:
    assert contrast('#000000', '#ffffff') == pytest.approx(21)
    assert contrast('#767676', '#ffffff') == pytest.approx(4.54, abs=0.01)


@pytest.mark.parametrize('theme', ['light', 'dark'])
@pytest.mark.parametrize(('pairs', 'least'), [(TEXTS, TEXT), (GRAPHICS, GRAPHIC)])
def test_colours_are_far_enough_apart(
        theme: str, pairs: dict[str, tuple[str, ...]], least: float) -> None:
    colours = palette(theme)
    found = {(name, ground): contrast(colours[name], colours[ground])
             for name, grounds in pairs.items() for ground in grounds}
    assert not {pair: ratio for pair, ratio in found.items() if ratio < least}
    for button in (colours['press'], '#c62828'):    # that is Stop, and a lost connection
        assert contrast('#ffffff', button) >= TEXT
    for line in ('known', 'candidate', 'lost'):    # the timeline has those of the light theme
        assert contrast(KINDS[line].colour, colours['card']) >= GRAPHIC


def test_every_colour_of_a_text_is_tested() -> None:
    used = {*re.findall(r'[{;\s]color: (?:var\(--([\w-]+)\)|#\w+)', parts.STYLE)} - {''}
    labels = re.findall(r'(?:label|text)[\w. -]* \{ fill: (?:var\(--([\w-]+)\)|#\w+)', parts.STYLE)
    disabled = {'track'}    # buttons that cannot be pressed are exempt
    assert {*used, *labels} - disabled <= {*TEXTS}
    fixed = {*re.findall(r'[{;\s](?:color|fill): (#\w+)', parts.STYLE)}
    assert fixed <= FIXED
