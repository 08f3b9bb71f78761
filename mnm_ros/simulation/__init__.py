"""Simulated controlled Markov processes and what is true of them, without ROS."""
