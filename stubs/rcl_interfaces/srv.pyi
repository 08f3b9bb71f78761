# SPDX-License-Identifier: Apache-2.0

from collections.abc import Sequence
from dataclasses import dataclass

from rcl_interfaces.msg import Parameter, ParameterValue, SetParametersResult
from rclpy.type_support import Srv

class GetParameters(Srv[GetParameters.Request, GetParameters.Response]):
    @dataclass(kw_only=True)
    class Request:
        names: Sequence[str] = ...
    @dataclass(kw_only=True)
    class Response:
        values: Sequence[ParameterValue] = ...

class SetParametersAtomically(
        Srv[SetParametersAtomically.Request, SetParametersAtomically.Response]):
    @dataclass(kw_only=True)
    class Request:
        parameters: Sequence[Parameter] = ...
    @dataclass(kw_only=True)
    class Response:
        result: SetParametersResult = ...
