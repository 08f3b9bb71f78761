"""What surrounds a trial on a robot: what to expect beforehand, and what came of it."""
