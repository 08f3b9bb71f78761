# SPDX-License-Identifier: Apache-2.0

from typing import Generic, TypeVar

from rclpy.task import Future

_RequestT = TypeVar('_RequestT')
_ResponseT = TypeVar('_ResponseT')

class Client(Generic[_RequestT, _ResponseT]):
    def call_async(self, request: _RequestT) -> Future[_ResponseT]: ...
    def remove_pending_request(self, future: Future[_ResponseT]) -> None: ...
    def service_is_ready(self) -> bool: ...
