"""The parts of the node ``navigator``."""
