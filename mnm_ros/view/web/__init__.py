# SPDX-License-Identifier: Apache-2.0

"""
What the page of a running exploration shows, as plain data: no ROS, no browser.

Read ``layers`` (the map, over ``places``), ``timeline``, ``html`` and ``controls`` (what can be
done).
"""
