# Copyright 2026 mnm_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0
# Unless required by applicable law or agreed to in writing, software distributed under the License
# is distributed on an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express
# or implied. See the License for the specific language governing permissions and limitations under
# the License.

"""Which topics of an exploration belong into a bag."""

STEPS = ('action', 'state', 'interruption', 'configuration')
"""All that a replay needs."""

RECORDED = (
    *STEPS, 'action/driver', 'robot_side', 'known_states', 'phase', 'status', '/diagnostics',
    'goal', 'goal_result', 'outcome', 'true_setting', 'exploration_steps')
"""What is recorded. Policies are left out: they are large, and a replay finds them again."""
