"""The algorithm, without ROS: driven one step at a time, never blocking."""
