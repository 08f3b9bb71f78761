# SPDX-License-Identifier: Apache-2.0

"""The discrete step protocol, both sides, without ROS: time is passed in, in seconds."""
