"""The parts of ``grid_driver`` and ``diff_drive_sim``."""
