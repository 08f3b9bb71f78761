"""What is written to a terminal becomes a picture of its last screen."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest
import terminal

WRITTEN = ('\x1b[?25l\x1b[1mtitle\x1b[0m  0:00:01\x1b[K\r\nknown  1\x1b[K\r\n\x1b[J'
           '\x1b[2F\x1b[1mtitle\x1b[0m  0:00:02\x1b[K\r\nknown  \x1b[32mo\x1b[0m < 2\x1b[K\r\n'
           '\x1b[J\x1b[?25h\r\nright\r\n')


def test_only_the_last_screen_stays() -> None:
    assert terminal.last_screen(WRITTEN) == [
        '\x1b[1mtitle\x1b[0m  0:00:02', 'known  \x1b[32mo\x1b[0m < 2', '', 'right']


def test_words_stand_where_they_stood() -> None:
    picture = ElementTree.fromstring(terminal.draw(terminal.last_screen(WRITTEN), 'a & b'))
    texts = {text.text: text for text in picture.iter('{http://www.w3.org/2000/svg}text')}
    assert list(texts) == ['title', '0:00:02', 'known', 'o', '< 2', 'right']
    assert texts['title'].get('font-weight') == 'bold'
    assert texts['o'].get('fill') == '#3fb950'
    assert float(texts['o'].get('x')) == pytest.approx(
        terminal.MARGIN + 7 * terminal.WIDTH)
