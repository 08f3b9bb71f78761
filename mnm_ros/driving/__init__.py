"""How a mobile robot becomes a CMP: cells, routes and driving, without ROS."""
