# SPDX-License-Identifier: Apache-2.0

"""
The content of the page of a running exploration, as plain data: no ROS, no browser.

Read ``layers`` (the map), ``panels`` (what is beside it) and ``origin`` (whom the server answers).
"""
