# SPDX-License-Identifier: Apache-2.0

"""What a closed door does to policies is measured from the change on, and repeats itself."""

from __future__ import annotations

from pathlib import Path

import doors
from mnm_ros.simulation.scenario import load
import pytest
from tiers import strength


def test_what_a_closed_door_does(tmp_path: Path, capsys: pytest.CaptureFixture,
                                 monkeypatch: pytest.MonkeyPatch) -> None:
    words = ['--worlds', 'two_rooms', '--seeds', '1', '--base', 'disco', '--keep',
             str(tmp_path)]
    monkeypatch.setattr(doors, 'world', lambda name, seed: (load(name), strength(3.0, 4.0)))
    settle, steps = strength((100, 500), (500, 1000))
    found = doors.measure('two_rooms', 0, settle, 4000, tmp_path, 'disco')
    if strength(True, False):    # that it repeats itself is shown by the first pushes below
        monkeypatch.setattr(doors, 'measure', lambda *_: found)
    doors.main([*words, '--settle', str(settle), '--most', '4000'])
    told = capsys.readouterr().out
    assert told.startswith('two_rooms: hint ')
    assert str([found[:4]]) in told    # from the same first hypothesis
    hint, notice, first, last, victims = found
    assert victims and first is not None and last is not None
    assert hint is not None and notice is not None
    assert 0 < min(hint, notice) <= first <= last
    pushed = doors.pushes('two_rooms', 0, settle, steps, 0, tmp_path, 'disco')
    told = doors.pushes('two_rooms', 0, settle, steps, steps // 2, tmp_path, 'disco')
    assert told[0] == pushed[0] <= told[1] < pushed[1] <= pushed[2]
    for stays in strength((), (40, 80)):    # the command below asks for one of them
        tries, noticed = doors.person('two_rooms', 0, 500, stays, tmp_path, 'disco')
        assert 0 < tries <= stays / 2 and noticed in (0, 1)
    doors.main([*words, '--settle', strength('100', '2000'), '--person', '40'])
    assert capsys.readouterr().out.startswith('two_rooms: ')
    doors.main([*words, '--rest', '500'])
    assert capsys.readouterr().out.splitlines()[-1] == (
        '0 hints in 500 steps, at most 119.83 in 20,000 (95%)')
