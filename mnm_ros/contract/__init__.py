# SPDX-License-Identifier: Apache-2.0

"""Tests that any robot side can be run against: ``python3 -m mnm_ros.contract --help``."""
