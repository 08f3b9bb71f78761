# SPDX-License-Identifier: Apache-2.0

from dataclasses import dataclass

@dataclass(kw_only=True)
class Transition:
    id: int = ...
    label: str = ...
