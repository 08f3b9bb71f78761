# SPDX-License-Identifier: Apache-2.0

"""
Values that say what has happened, what is being done, and why a policy is trusted or not.

The core makes no sentences: ``mnm_ros.view.sentences`` makes them from these values, by the tables
in ``config/words``. The name of a field says what it holds:

- ``state``, ``target``, ``end``: a state; ``states``, ``ends``: several;
- ``action``: an action, in ``state`` if there is such a field; ``pairs``: states and actions;
- ``said``: another value;
- other fields: a number, or the name of a source.

Import all of them from here: ``read_said`` knows the kinds that were imported.
"""

from mnm_ros.core.progress.said.activities import *  # noqa: F401, F403
from mnm_ros.core.progress.said.answers import *  # noqa: F401, F403
from mnm_ros.core.progress.said.events import *  # noqa: F401, F403
from mnm_ros.core.progress.said.goals import *  # noqa: F401, F403
from mnm_ros.core.progress.said.reasons import *  # noqa: F401, F403
from mnm_ros.core.progress.said.value import *  # noqa: F401, F403
from mnm_ros.core.progress.said.waiting import *  # noqa: F401, F403
