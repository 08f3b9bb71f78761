# SPDX-License-Identifier: Apache-2.0

from collections.abc import Callable
from typing import Generic, TypeVar

_T = TypeVar('_T')

class Future(Generic[_T]):
    def cancelled(self) -> bool: ...
    def done(self) -> bool: ...
    def result(self) -> _T: ...    # None before it is done
    def add_done_callback(self, callback: Callable[[Future[_T]], object]) -> None: ...
