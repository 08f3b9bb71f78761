# Copyright 2026 mnm_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0
# Unless required by applicable law or agreed to in writing, software distributed under the License
# is distributed on an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express
# or implied. See the License for the specific language governing permissions and limitations under
# the License.

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
