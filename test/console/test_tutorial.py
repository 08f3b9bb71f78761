# SPDX-License-Identifier: Apache-2.0

"""The tutorial leads where it says: its files are saved, and its commands typed, as printed."""

from __future__ import annotations

import os
from pathlib import Path
import re
import runpy
import signal
import subprocess
import sys

from mnm_ros import explore
from mnm_ros.console.command_line import parse
from mnm_ros.core import Exploration, play, Problem, RESET, settings
from mnm_ros.simulation.ground_truth import judge
from mnm_ros.simulation.simulator import Simulator
from pages import blocks, DOCS, ROOT
import pytest
from tiers import strength

SCENARIO = DOCS / 'tutorials' / 'first_exploration.md'
ROBOT = DOCS / 'tutorials' / 'your_robot.md'
LONG = 240.0    # s


def block(page: Path, beginning: str) -> str:
    found, = (text for text in blocks(page, r'\w*') if text.startswith(beginning))
    return found


def saved(page: Path, language: str, path: Path) -> None:
    text, = blocks(page, language)
    path.write_text(text, encoding='utf-8')


def test_a_scenario_of_ones_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without nodes, which takes a second; test_live_run.py has the command with them."""
    monkeypatch.chdir(tmp_path)
    saved(SCENARIO, 'yaml', tmp_path / 'warehouse.yaml')
    options = parse(block(SCENARIO, 'scripts/explore warehouse.yaml').split()[1:])
    assert options.goal is not None and options.goal.changes == 1
    problem = Problem(len(options.scenario.actions), radius=4.0, epsilon=1.0, delta=0.1)
    exploration, robot = Exploration(settings(problem)), Simulator(options.scenario)
    play(exploration, robot.step, strength(1_500, 3_990))
    assert robot.setting == 0 and 3 in exploration.hypothesis.targets
    if strength(True, False):
        robot.change()    # else the door closes soon
    while exploration.changes_relearnt < 1:
        play(exploration, robot.step, 10)
    assert judge(robot.cmp, exploration.hypothesis, 4.0, 1.0).ok and robot.setting == 1
    known = exploration.hypothesis.targets
    shown = block(SCENARIO, 'known  ')
    assert f'known           {len(known)} states\n' in shown and not {3, 11} & set(known)
    assert 'too far         11 ' in shown and 'limit 8 ' in shown and problem.limit == 8


def learnt(path: Path) -> str:
    """Return the line of what is known of the camera, whose methods are called as by its node."""
    kind = runpy.run_path(str(path))['Camera']
    camera = kind.__new__(kind)    # no node

    def step(action: int) -> int:
        state: int = camera.return_home() if action == RESET else camera.execute(action)
        return state

    # Whoever trusts more learns the same in fewer steps.
    known = explore(step, actions=kind.action_names, radius=4.0, delta=0.9, progress=False).known
    return f'known {len(known)}: {" ".join(map(str, known))}'


def test_a_robot_side_of_ones_own(tmp_path: Path) -> None:
    saved(ROBOT, 'python', tmp_path / 'camera.py')
    (tmp_path / 'scripts').symlink_to(ROOT / 'scripts')
    (tmp_path / 'python3').write_text(f'#!/bin/sh\nexec {sys.executable} "$@"\n')
    (tmp_path / 'python3').chmod(0o755)
    # In a home of its own no other explorer has left a pause.
    given = {**os.environ, 'MNM_PYTHON': sys.executable, 'HOME': str(tmp_path),
             'PATH': f'{tmp_path}{os.pathsep}{os.environ["PATH"]}'}

    def typed(command: str) -> str:
        done = subprocess.run(['bash', '-c', command], cwd=tmp_path, env=given, text=True,
                              capture_output=True, timeout=LONG)
        assert done.returncode == 0, (command, done.stdout, done.stderr)
        return done.stdout

    background = block(ROBOT, 'python3 camera.py').strip().rstrip('&')
    robot = subprocess.Popen(['bash', '-c', f'exec {background}'], cwd=tmp_path, env=given,
                             stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        # A few clauses stand for all, which take ten seconds.
        lines = typed(
            f'{block(ROBOT, "python3 -m mnm_ros contract").strip()} -k "reset or description"')
        assert re.findall(r'^(ok|FAILED|skipped) ', lines, re.MULTILINE) == ['ok'] * 3, lines
        shown = block(ROBOT, 'hypothesis ')
        assert 'hypothesis      1.0\n' in shown
        command = block(ROBOT, 'scripts/explore --robot').strip()
        assert parse(command.split()[1:]).goal is not None
        if strength(False, True):
            said = typed(command)
            assert 'hypothesis      1.0\n' in said
            assert 'The hypothesis is right' not in said and 'nobody here knows' in said
        else:    # without nodes; nodes/test_command.py has the command with them
            said = learnt(tmp_path / 'camera.py')
        found, wanted = (sorted(re.search(r'^known +9: (.*)$', text, re.MULTILINE)[1].split())
                         for text in (said, shown))
        assert found == wanted
        robot.send_signal(signal.SIGINT)
        assert robot.wait(LONG) == 0
    finally:
        robot.kill()
        robot.wait()
