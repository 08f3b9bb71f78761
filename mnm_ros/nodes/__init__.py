# SPDX-License-Identifier: Apache-2.0

"""The ROS nodes: thin shells around the core and the simulation."""
