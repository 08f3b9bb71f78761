# SPDX-License-Identifier: Apache-2.0

from rclpy.context import Context
from rclpy.signals import SignalHandlerOptions

def init(
    *, args: list[str] | None = None, context: Context | None = None,
    domain_id: int | None = None,
    signal_handler_options: SignalHandlerOptions | None = None) -> None: ...
def ok(*, context: Context | None = None) -> bool: ...
def try_shutdown(*, context: Context | None = None) -> None: ...
