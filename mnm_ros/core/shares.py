# Copyright 2026 mnm_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0
# Unless required by applicable law or agreed to in writing, software distributed under the License
# is distributed on an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express
# or implied. See the License for the specific language governing permissions and limitations under
# the License.

"""How an error probability is shared out among things of which nobody knows how many will come."""

from __future__ import annotations

import math

MANY = 10    # of states and pairs there are hardly ever fewer


def share(number: int, even: int = 1) -> float:
    """
    Return the part of thing number 1, 2, ...; all parts together are 1.

    They fall with the power 3/2 of the number: where hundreds of states or pairs have a part each,
    that of the last one is much more than ``1 / (number (number + 1))``.

    :param even: so many of the first get nearly as much as the first one.
    """
    return math.sqrt((1 + even) / (number + even)) - math.sqrt((1 + even) / (number + even + 1))
