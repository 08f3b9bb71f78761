# SPDX-License-Identifier: Apache-2.0

"""
What the page of a running exploration shows, as plain data: no ROS, no browser.

Read ``layers`` (the map), ``panels`` (what is beside it) and ``origin`` (whom the server answers).
"""
