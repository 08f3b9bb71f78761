# SPDX-License-Identifier: Apache-2.0

from typing import Any

class Subscription:
    @property
    def handle(self) -> Any: ...
    @property
    def topic_name(self) -> str: ...
