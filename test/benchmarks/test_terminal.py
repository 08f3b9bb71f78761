# SPDX-License-Identifier: Apache-2.0

"""What is written to a terminal becomes a picture of its last screen."""

from __future__ import annotations

from pathlib import Path
from subprocess import CalledProcessError
import sys
from xml.etree import ElementTree

import pytest
from rich.console import Console
import terminal
from tiers import thorough

WRITTEN = ('\x1b[?25l\x1b[1mtitle\x1b[0m  0:00:01\r\nknown  1\r\n'
           '\r\x1b[2K\x1b[1A\x1b[2K\x1b[1A\x1b[2K\x1b[1mtitle\x1b[0m  0:00:02\r\n'
           'known  \x1b[32mo\x1b[0m < 2\r\n\x1b[?25h\r\nright\r\n')


@thorough('benchmarks/test_terminal.py::test_what_is_written_is_drawn '
          'console/test_live_run.py::test_the_real_nodes')
def test_a_run_is_drawn(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Draw as docs/figures/terminal.svg is drawn, but of a shorter run."""
    if not hasattr(Console, 'export_svg'):
        pytest.skip('rich 12.3 or newer is not installed')
    path = tmp_path / 'terminal.svg'
    monkeypatch.setattr(sys, 'argv', ['terminal', '--output', str(path), 'corridor', '--once'])
    terminal.main()
    drawn = ' '.join(path.read_text(encoding='utf-8').replace('&#160;', ' ').split())
    assert '$ scripts/explore corridor --once' in drawn and 'mnm_ros: corridor' in drawn
    assert 'right' in drawn


def test_what_is_written_is_drawn(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By a program in the place of scripts/explore, in a terminal of that width."""
    if not hasattr(Console, 'export_svg'):
        pytest.skip('rich 12.3 or newer is not installed')
    (tmp_path / 'scripts').mkdir()
    program = tmp_path / 'scripts' / 'explore'
    program.write_text('#!/bin/sh\n[ -t 1 ] && echo "$1 in $(stty size)"; [ "$1" = corridor ]\n')
    program.chmod(0o755)
    monkeypatch.setattr(terminal, 'ROOT', tmp_path)
    path = tmp_path / 'terminal.svg'
    monkeypatch.setattr(sys, 'argv', ['terminal', '--output', str(path), 'corridor', '--once'])
    terminal.main()
    drawn = ' '.join(path.read_text(encoding='utf-8').replace('&#160;', ' ').split())
    assert '$ scripts/explore corridor --once' in drawn and 'mnm_ros: corridor' not in drawn
    assert f'corridor in {terminal.ROWS} {terminal.COLUMNS}' in drawn
    with pytest.raises(CalledProcessError):
        terminal.run(['trap'])


def test_only_the_last_screen_stays() -> None:
    assert terminal.last_screen(WRITTEN) == [
        '\x1b[1mtitle\x1b[0m  0:00:02', 'known  \x1b[32mo\x1b[0m < 2', '', 'right']


def test_words_stand_where_they_stood_and_no_font_is_loaded() -> None:
    if not hasattr(Console, 'export_svg'):
        pytest.skip('rich 12.3 or newer is not installed')
    drawn = terminal.draw(terminal.last_screen(WRITTEN), 'a & b')
    assert 'font-face' not in drawn and 'url(http' not in drawn
    picture = ElementTree.fromstring(drawn)
    texts = {(text.text or '').replace('\xa0', ' ').strip(): text
             for text in picture.iter('{http://www.w3.org/2000/svg}text')}
    assert {'a & b', 'title', 'known', 'o', '< 2', 'right'} <= set(texts)
    assert texts['o'].get('class') != texts['known'].get('class')
    assert float(texts['o'].get('x')) == pytest.approx(7 * 12.2)
