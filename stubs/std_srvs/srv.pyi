# SPDX-License-Identifier: Apache-2.0

from dataclasses import dataclass

from rclpy.type_support import Srv

class SetBool(Srv[SetBool.Request, SetBool.Response]):
    @dataclass(kw_only=True)
    class Request:
        data: bool = ...
    @dataclass(kw_only=True)
    class Response:
        success: bool = ...
        message: str = ...

class Trigger(Srv[Trigger.Request, Trigger.Response]):
    @dataclass(kw_only=True)
    class Request: ...
    @dataclass(kw_only=True)
    class Response:
        success: bool = ...
        message: str = ...
