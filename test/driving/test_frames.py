# SPDX-License-Identifier: Apache-2.0

"""The tree of frames: what follows from the transforms that are heard."""

from __future__ import annotations

import math

from mnm_ros.driving.pose import FrameLink, Frames, Pose, Transform
import pytest

TILTED = Transform.of(0.3, -0.2, 1.5, 0.4, -0.1, 0.2, 0.9)
TURNED = Transform.planar(Pose(1.0, 2.0, math.pi / 2))


def same(found: Transform, wanted: Transform) -> bool:
    """Whether two transforms are the same; a quaternion is the same with the other sign."""
    sign = math.copysign(1.0, sum(a * b for a, b in zip(found[3:], wanted[3:])))
    return found == pytest.approx((*wanted[:3], *(sign * part for part in wanted[3:])))


def put(frames: Frames, frame: str, parent: str, transform: Transform, stamp: int | None = 1,
        heard: float = 0.0) -> None:
    frames.hear(frame, FrameLink(parent, transform, stamp, heard))


def test_one_after_the_other() -> None:
    there = TURNED.then(Transform.planar(Pose(3.0, 0.0, math.pi / 4)))
    assert same(there, Transform.planar(Pose(1.0, 5.0, 3 * math.pi / 4)))
    up = Transform.of(0, 0, 0, 0, -math.sin(math.pi / 4), 0, math.cos(math.pi / 4))
    assert same(up.then(Transform(x=1.0)), up._replace(z=1.0))    # x points upwards


def test_and_back() -> None:
    for transform in (TURNED, TILTED):
        assert same(transform.then(transform.inverse), Transform())
        assert same(transform.inverse.then(transform), Transform())
    assert same(TILTED.then(TURNED).inverse, TURNED.inverse.then(TILTED.inverse))


@pytest.mark.parametrize('numbers', [
    (math.nan, 0, 0, 0, 0, 0, 1), (0, 0, math.inf, 0, 0, 0, 1), (0, 0, 0, 0, 0, 0, 0),
    (0, 0, 0, 0, 0, math.nan, 1), (0, 0, 0, 1e308, 1e308, 1e308, 1e308)])
def test_what_is_no_transform(numbers: tuple[float, ...]) -> None:
    assert Transform.of(*numbers) is None


def test_the_length_of_a_quaternion_does_not_matter() -> None:
    assert Transform.of(1.0, 2.0, 0.0, 0.0, 0.0, 5.0, 5.0) == pytest.approx(TURNED)


def test_a_chain() -> None:
    frames = Frames()
    put(frames, 'base', 'footprint', TILTED, None, math.inf)
    put(frames, 'footprint', 'odom', Transform(x=3.0), 70, heard=5.0)
    assert frames.find('base', 'map') is None
    put(frames, 'odom', 'map', TURNED, 90, heard=2.0)
    found = frames.find('base', 'map')
    assert same(found.transform, TURNED.then(Transform(x=3.0)).then(TILTED))
    assert (found.stamp, found.heard) == (70, 2.0)
    put(frames, 'footprint', 'odom', Transform(), 71, heard=6.0)
    found = frames.find('base', 'map')
    assert same(found.transform, TURNED.then(TILTED)) and found.stamp == 71


def test_a_map_that_hangs_below_the_robot_or_beside_it() -> None:
    frames = Frames()
    put(frames, 'map', 'odom', TURNED)
    put(frames, 'base', 'odom', TILTED, 3)
    assert same(frames.find('base', 'map').transform, TURNED.inverse.then(TILTED))
    assert same(frames.find('odom', 'map').transform, TURNED.inverse)
    assert same(frames.find('base', 'base').transform, Transform())


def test_what_never_changes_has_no_stamp() -> None:
    frames = Frames()
    put(frames, 'base', 'map', TURNED, None)
    found = frames.find('base', 'map')
    assert found.stamp is None and found.heard == math.inf


def test_nonsense_ends() -> None:
    frames = Frames()
    put(frames, 'a', 'b', TURNED)
    put(frames, 'b', 'a', TURNED)
    put(frames, 'c', 'c', TURNED)
    assert frames.find('a', 'map') is None and frames.find('c', 'map') is None
    for number in range(20_000):
        put(frames, f'frame {number}', 'map', TURNED)
    assert len(frames._links) == 10_000
    put(frames, 'a', 'map', TURNED)
    assert same(frames.find('a', 'map').transform, TURNED)
