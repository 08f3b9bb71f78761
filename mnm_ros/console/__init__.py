"""Watch an exploration of a simulated CMP live in a terminal (`scripts/explore`)."""
