# SPDX-License-Identifier: Apache-2.0

"""How a mobile robot becomes a CMP: cells, routes and driving, without ROS."""
