# SPDX-License-Identifier: Apache-2.0

"""The command ``mnm_ros``, or ``python3 -m mnm_ros``; see ``--help``."""

from __future__ import annotations

import sys

from mnm_ros.command.main import main

if __name__ == '__main__':
    sys.exit(main())
