# SPDX-License-Identifier: Apache-2.0

from typing import TypeVar

_MsgT = TypeVar('_MsgT')

def deserialize_message(serialized_message: bytes, message_type: type[_MsgT]) -> _MsgT: ...
def serialize_message(message: object) -> bytes: ...
