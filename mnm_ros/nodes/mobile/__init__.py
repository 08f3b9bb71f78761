# SPDX-License-Identifier: Apache-2.0

"""The parts of ``grid_driver`` and ``diff_drive_sim``."""
