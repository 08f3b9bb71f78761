# SPDX-License-Identifier: Apache-2.0

"""What is known of an explorer as JSON, for programs that watch."""

from __future__ import annotations

from dataclasses import asdict
import json

from mnm_ros.view.heard import Heard


def line(heard: Heard) -> str:
    """Return it as one JSON object without line breaks; null is what is not known."""
    now, activity = heard, heard.activity
    return json.dumps({
        'phase': now.phase or None, 'status': now.status or None, 'round': now.count('round'),
        'hypothesis': now.hypothesis.stamp if now.hypothesis is not None else None,
        'home': now.home, 'current': None if now.robots else activity.current, 'known': now.known,
        'candidates': sorted(now.candidates), 'beyond': now.beyond, 'lost': activity.lost,
        'steps': now.count('steps'), 'steps_per_second': now.number('steps_per_second'),
        'changes_noticed': now.count('changes_noticed'),
        'changes_relearnt': now.count('changes_relearnt'),
        'true_setting': now.true_setting, 'exploration_steps': now.exploration_steps,
        'doing': activity.doing, 'target': activity.target, 'action': activity.action,
        'sentence': activity.sentence,
        'tests': [asdict(test) for test in activity.tests],
        'progress': asdict(activity.progress) if activity.progress is not None else None,
        'seconds_left': now.seconds_left(), 'limit': activity.limit or None,
        'robots': [asdict(robot) for robot in now.robots],
        'expected_steps': {str(state): steps for state, steps in activity.expected_steps.items()},
    }, separators=(',', ':'))
