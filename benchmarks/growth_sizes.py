# SPDX-License-Identifier: Apache-2.0

"""Bytes of an exploration: its messages as serialised, its files, and the least for each."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
import lzma
import math
from pathlib import Path
from typing import Any

from growth_worlds import TOPICS
from mnm_ros import messages
from mnm_ros.checkpoint.input_log import InputLog
from mnm_ros.core.inputs import Input
from mnm_ros.core.knowledge.knowledge import Knowledge
from mnm_ros.core.model.counts import Pair
from mnm_ros.core.model.policy import Hypothesis
from mnm_ros.core.progress.activity import Activity
from mnm_ros.nodes.exploring.output.markers import Markers
from mnm_ros.robot_description import RobotDescription
from mnm_ros.view.shapes import Caption
from rclpy.serialization import serialize_message
from std_msgs.msg import String

ID = 8    # bytes: any int64 may be the id of a state
Counted = Mapping[Pair, Mapping[int, int]]


def sizes(known: Knowledge, hypothesis: Hypothesis, activity: Activity, steps: int,
          actions: int) -> dict[str, int]:
    """
    Return the bytes of each topic, and the least for them as ``least_...``.

    :param known: as much of what is known as is drawn and counted.
    """
    positions = {state: (float(i), 0.0) for i, state in enumerate(
        (*hypothesis.targets, *known.candidates))}
    markers = Markers()
    markers.draw(known, RobotDescription(
        tuple(map(str, range(actions))), hypothesis.targets[0], 'map', {}, positions),
        Caption(0, 'checking'))
    rows = [leg[:4] for leg in known.transitions]
    serialised = dict(zip(TOPICS, map(serialize_message, (
        messages.encode_known_states(hypothesis), messages.PolicySet.of(hypothesis).to_msg(),
        messages.encode_model(steps, rows), String(data=activity.to_json()), markers.whole()))))
    least = {'known_states': ID * len(hypothesis.targets),
             'policies': least_policies(len(hypothesis.targets), actions),
             'model': least_model(rows),
             **{topic: len(lzma.compress(serialised[topic], lzma.FORMAT_ALONE))
                for topic in ('activity', 'markers')}}
    return {**{topic: len(found) for topic, found in serialised.items()},
            **{f'least_{topic}': found for topic, found in least.items()}}


def least_policies(known: int, actions: int) -> int:
    """Return the bytes of a table of actions of which nothing is known, RESET among them."""
    return ID * known + math.ceil(known ** 2 * math.log2(actions + 1) / 8)


def least_model(rows: Iterable[Sequence[int]]) -> int:
    """
    Return the bytes of counts of which nothing is known.

    Each state once, then for each row which of the states follows, and how many of the executions
    of its pair.
    """
    rows = list(rows)
    totals: dict[tuple[int, int], int] = {}
    for state, action, _, count in rows:
        totals[state, action] = totals.get((state, action), 0) + count
    states = len({state for row in rows for state in (row[0], row[2])})
    bits = sum(math.log2(states) + math.log2(1 + totals[state, action])
               for state, action, _, _ in rows)
    return ID * states + math.ceil(bits / 8)


def checkpoint(folder: Path, point: Mapping[str, Any]) -> int:
    """Return the bytes of a file with a resume point, and nothing since."""
    path = folder / 'checkpoint.sqlite'
    InputLog.create(path, {}, point).close()
    return path.stat().st_size


def transition_log(folder: Path, inputs: Sequence[Input]) -> float:
    """Return the bytes that each input takes in a transition log."""
    path = folder / 'log.sqlite'
    log = InputLog.create(path, {}, None)
    empty = path.stat().st_size
    log.append(inputs)
    log.close()
    return (path.stat().st_size - empty) / len(inputs)


def least_log(counts: Counted) -> float:
    """
    Return the bytes that each step needs: the entropy of where it led.

    The action follows from what was observed before; so does the place of a RESET.
    """
    bits, steps = 0.0, 0
    for seen in counts.values():
        total = sum(seen.values())
        steps += total
        bits += sum(count * math.log2(total / count) for count in seen.values())
    return bits / 8 / max(1, steps)
