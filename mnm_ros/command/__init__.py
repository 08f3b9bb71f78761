# SPDX-License-Identifier: Apache-2.0

"""The command `mnm_ros`: what a user without `ros2` needs, in one place."""
