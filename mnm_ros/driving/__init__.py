"""How a mobile robot becomes a CMP: cells, ways and the way to drive; imports no ROS."""
