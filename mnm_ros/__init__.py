"""Autonomous exploration of changing controlled Markov processes, for ROS 2.

``mnm_ros.PolicySet`` decodes what the explorer publishes; it is the only name here that needs
ROS, and it is imported when it is first used.
"""

from __future__ import annotations

from typing import Any

__all__ = ['PolicySet']
__version__ = '0.1.0'


def __getattr__(name: str) -> Any:
    if name == 'PolicySet':
        from mnm_ros.wire import PolicySet
        return PolicySet
    raise AttributeError(f'module {__name__!r} has no attribute {name!r}')
