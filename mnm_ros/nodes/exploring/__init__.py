"""The parts of the node ``explorer``."""
