# SPDX-License-Identifier: Apache-2.0

from typing import Generic, TypeVar

_RequestT = TypeVar('_RequestT')
_ResponseT = TypeVar('_ResponseT')

class Srv(Generic[_RequestT, _ResponseT]): ...
