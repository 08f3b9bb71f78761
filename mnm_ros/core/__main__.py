# SPDX-License-Identifier: Apache-2.0

"""Print the state machines as Mermaid diagrams: ``python3 -m mnm_ros.core``."""

from mnm_ros.core.disco.disco import DISCO_TRANSITIONS, DiscoPhase
from mnm_ros.core.mnm.mnm import MNM_TRANSITIONS
from mnm_ros.core.mnm.phase import MnmState
from mnm_ros.core.paper.ucb_explore import UCB_TRANSITIONS, UcbPhase
from mnm_ros.core.task.step_task import diagram, RUN_TRANSITIONS, RunState

print(diagram(RUN_TRANSITIONS, RunState.WAITING_FOR_ROBOT),
      diagram(MNM_TRANSITIONS, MnmState.HOMING),
      diagram(UCB_TRANSITIONS, UcbPhase.DISCOVERY),
      diagram(DISCO_TRANSITIONS, DiscoPhase.SAMPLING), sep='\n\n')
