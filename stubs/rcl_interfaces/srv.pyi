# SPDX-License-Identifier: Apache-2.0

from collections.abc import Sequence
from dataclasses import dataclass

from rcl_interfaces.msg import ParameterValue
from rclpy.type_support import Srv

class GetParameters(Srv[GetParameters.Request, GetParameters.Response]):
    @dataclass(kw_only=True)
    class Request:
        names: Sequence[str] = ...
    @dataclass(kw_only=True)
    class Response:
        values: Sequence[ParameterValue] = ...
