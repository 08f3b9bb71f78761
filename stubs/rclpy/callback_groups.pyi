# SPDX-License-Identifier: Apache-2.0

from collections.abc import Callable

class CallbackGroup:
    entities: set[Callable[[], object]]
