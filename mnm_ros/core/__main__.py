# Copyright 2026 mnm_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0
# Unless required by applicable law or agreed to in writing, software distributed under the License
# is distributed on an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express
# or implied. See the License for the specific language governing permissions and limitations under
# the License.

"""Print the state machines as Mermaid diagrams: ``python3 -m mnm_ros.core``."""

from mnm_ros.core.disco import DISCO_TRANSITIONS, DiscoPhase
from mnm_ros.core.machine import diagram
from mnm_ros.core.mnm import MNM_TRANSITIONS, MnmPhase
from mnm_ros.core.run import RUN_TRANSITIONS
from mnm_ros.core.step_task import RunState
from mnm_ros.core.ucb_explore import UCB_TRANSITIONS, UcbPhase

print(diagram(RUN_TRANSITIONS, RunState.WAITING_FOR_ROBOT),
      diagram(MNM_TRANSITIONS, MnmPhase.HOMING),
      diagram(UCB_TRANSITIONS, UcbPhase.DISCOVERY),
      diagram(DISCO_TRANSITIONS, DiscoPhase.SAMPLING), sep='\n\n')
