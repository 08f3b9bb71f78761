# SPDX-License-Identifier: Apache-2.0

from dataclasses import dataclass

from lifecycle_msgs.msg import Transition
from rclpy.type_support import Srv

class ChangeState(Srv[ChangeState.Request, ChangeState.Response]):
    @dataclass(kw_only=True)
    class Request:
        transition: Transition = ...
    @dataclass(kw_only=True)
    class Response:
        success: bool = ...
