# Copyright 2026 mnm_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0
# Unless required by applicable law or agreed to in writing, software distributed under the License
# is distributed on an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express
# or implied. See the License for the specific language governing permissions and limitations under
# the License.

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


if __name__ == '__main__':
    sys.exit(run('cmp_sim', LoggedSim, sys.argv[2:]))
