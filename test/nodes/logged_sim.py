# SPDX-License-Identifier: Apache-2.0

"""
``cmp_sim`` with a log of its steps that outlives SIGKILL.

The first argument is the log. Up to ``--ros-args``, states and actions may follow that are never
to be commanded.
"""

from __future__ import annotations

from dataclasses import replace
import sys

from mnm_ros.core.model.declaration import Declaration
from mnm_ros.nodes.cmp_sim import CmpSim
from mnm_ros.nodes.common.spin import run
from mnm_ros.protocol.exchange import Command
from mnm_ros.robot_description import RobotDescription
from mnm_ros.simulation.cmp import support

_BEGIN = sys.argv.index('--ros-args') if '--ros-args' in sys.argv else len(sys.argv)
_FORBIDDEN = [*zip(*(iter(map(int, sys.argv[2:_BEGIN])),) * 2)]


class LoggedSim(CmpSim):
    """
    Writes each step as a line of state, action and next state before it answers.

    A fourth number is the state for which the step was meant.
    """

    _meant: int | None = None
    log = open(sys.argv[1], 'a', buffering=1)    # noqa: SIM115

    def execute(self, action: int) -> int:
        before = self._simulator.state
        state = super().execute(action)
        meant = () if self._meant is None else (self._meant,)
        print(before, action, state, *meant, file=self.log)
        return state

    def describe(self) -> RobotDescription:
        described = super().describe()
        if not _FORBIDDEN:
            return described
        return replace(described, declaration=Declaration({
            state: tuple(() if (state, action) in _FORBIDDEN else ends
                         for action, ends in enumerate(actions))
            for state, actions in support(self._simulator.cmp).successors.items()}))

    def _obey(self, command: Command) -> None:
        self._meant = command.meant
        super()._obey(command)


def main() -> int:
    return run('cmp_sim', LoggedSim, sys.argv[_BEGIN:])


if __name__ == '__main__':
    sys.exit(main())
