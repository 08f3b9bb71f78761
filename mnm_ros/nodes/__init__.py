"""The ROS nodes: thin shells around the core and the simulation."""
