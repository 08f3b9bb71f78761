# Copyright 2026 mnm_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0
# Unless required by applicable law or agreed to in writing, software distributed under the License
# is distributed on an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express
# or implied. See the License for the specific language governing permissions and limitations under
# the License.

"""The tutorial, typed as it is printed."""

from __future__ import annotations

import os
from pathlib import Path
import re
import signal
import subprocess
import sys

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / 'docs' / 'tutorial.md').read_text(encoding='utf-8')
BLOCKS = re.findall(r'^```(\w*)\n(.*?)^```', PAGE, re.DOTALL | re.MULTILINE)
LONG = 120.0    # s


def blocks(beginning: str) -> list[str]:
    return [text for _, text in BLOCKS if text.startswith(beginning)]


def test_the_tutorial_leads_where_it_says(tmp_path: Path) -> None:
    scenario, = (text for language, text in BLOCKS if language == 'yaml')
    camera, = (text for language, text in BLOCKS if language == 'python')
    (tmp_path / 'warehouse.yaml').write_text(scenario, encoding='utf-8')
    (tmp_path / 'camera.py').write_text(camera, encoding='utf-8')
    (tmp_path / 'scripts').symlink_to(ROOT / 'scripts')
    (tmp_path / 'python3').write_text(f'#!/bin/sh\nexec {sys.executable} "$@"\n')
    (tmp_path / 'python3').chmod(0o755)
    given = {**os.environ, 'MNM_PYTHON': sys.executable,
             'PATH': f'{tmp_path}{os.pathsep}{os.environ["PATH"]}'}

    def typed(command: str) -> str:
        done = subprocess.run(['bash', '-c', command], cwd=tmp_path, env=given, text=True,
                              capture_output=True, timeout=LONG)
        assert done.returncode == 0, (command, done.stdout, done.stderr)
        return done.stdout

    explore, = blocks('scripts/explore warehouse.yaml')
    shown, = blocks('known           6 states')
    said = typed(explore)
    assert all(line in said.splitlines() for line in shown.splitlines()), said
    assert re.search(r'known 9: .*\b3\b', said), 'state 3 was known at first'

    background, = blocks('python3 camera.py &')
    robot = subprocess.Popen(
        ['bash', '-c', f'exec {background.strip().rstrip("&")}'], cwd=tmp_path, env=given,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        contract, = blocks('python3 -m mnm_ros contract')
        # Two clauses stand for all: the other ones are tested at length elsewhere.
        lines = typed(f'{contract.strip()} -k "reset or it_is"').splitlines()
        assert [line for line in lines if line.startswith('ok ')] and not [
            line for line in lines if line.startswith('FAILED')], lines
        explore, = blocks('scripts/explore --robot')
        shown, = blocks('hypothesis      1.0')
        said = typed(explore)
        assert 'hypothesis      1.0' in said
        wanted, found = (sorted(re.search(r'^known +9: (.*)$', text, re.MULTILINE)[1].split())
                         for text in (shown, said))
        assert found == wanted
        robot.send_signal(signal.SIGINT)
        assert robot.wait(LONG) == 0
    finally:
        robot.kill()
        robot.wait()
