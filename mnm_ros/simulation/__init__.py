# SPDX-License-Identifier: Apache-2.0

"""Simulated controlled Markov processes and what is true of them, without ROS."""
