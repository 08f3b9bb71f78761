# SPDX-License-Identifier: Apache-2.0

"""``cmp_sim`` with a log of its steps that outlives SIGKILL; the log is the first argument."""

from __future__ import annotations

import sys

from mnm_ros.nodes.cmp_sim import CmpSim
from mnm_ros.nodes.common.spin import run


class LoggedSim(CmpSim):
    """Writes each step as a line of state, action and next state before it answers."""

    log = open(sys.argv[1], 'a', buffering=1)    # noqa: SIM115

    def execute(self, action: int) -> int:
        before = self._simulator.state
        state = super().execute(action)
        self.log.write(f'{before} {action} {state}\n')
        return state


def main() -> int:
    return run('cmp_sim', LoggedSim, sys.argv[2:])


if __name__ == '__main__':
    sys.exit(main())
