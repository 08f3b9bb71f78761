# SPDX-License-Identifier: Apache-2.0

"""
The ROS nodes: thin shells around the core and the simulation.

Each module here but ``robot_side``, the base class of robots, is an executable; read ``explorer``
first. What one of them is made of stands in a room beside it. A time that is passed in as ``now``
is one of ``time.monotonic``, in seconds.
"""

import os

# Equations are small: a second thread of numpy would wait for the first one, busily. What takes
# 1 ms would take up to 100 ms if the processors have other work. It is read when numpy is loaded.
os.environ.setdefault('OPENBLAS_NUM_THREADS', '1')
