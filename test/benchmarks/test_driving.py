# SPDX-License-Identifier: Apache-2.0

"""The driven robot of ``benchmarks/driving``: what it tells is where it is."""

from __future__ import annotations

from driving import Driver, flat, shipped
from mnm_ros.core.model.problem import RESET

EAST, NORTH, WEST, SOUTH = range(4)


def test_commands_lead_where_they_say_and_a_closed_door_is_not_touched() -> None:
    driver = Driver(3, shipped('grid_driver'), shipped('diff_drive_sim'))
    home = driver.place.cell
    assert home == flat().home[0] + flat().home[1] * flat().size[0]
    for action, cell in ((EAST, home + 1), (EAST, home + 2), (WEST, home + 1), (RESET, home),
                         (RESET, home), (NORTH, home + 9), (NORTH, home + 18)):
        assert driver.order(action) == cell
    assert driver.order(RESET) == home
    driver.robot.change()
    assert driver.order(NORTH) == home + 9 and driver.order(NORTH) == home + 9
    tally = driver.tally
    assert tally.contact == tally.wrong == tally.failed == 0 and len(tally.home) == 2
    assert tally.steps == 10 and 20 < tally.seconds < 80
