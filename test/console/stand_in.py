# SPDX-License-Identifier: Apache-2.0

"""
The console with nodes that only pretend: ``stand_in.py console|explorer|cmp_sim|dashboard ...``.

STAND_IN tells the explorer what to do: publish a ``right`` or a ``wrong`` hypothesis, ``none``,
or ``die``. Each node leaves a file ``<node>.pid`` in the directory STAND_IN_PIDS, and
``<node>.published`` once it has published.
"""

from __future__ import annotations

from contextlib import suppress
import os
from pathlib import Path
import signal
import sys

NODES = ('cmp_sim', 'explorer')


def console() -> int:
    from mnm_ros.console import __main__ as program
    from mnm_ros.console.options import Options
    Options.commands = lambda self: {
        node: [__file__, node] for node in (*NODES, *['dashboard'] * self.page)}
    del sys.argv[1]
    return program.main()


def node(name: str) -> int:
    folder = Path(os.environ['STAND_IN_PIDS'])
    (folder / f'{name}.pid').write_text(str(os.getpid()))
    if name == 'explorer' and os.environ['STAND_IN'] == 'die':
        sys.exit('no luck today')
    if name == 'dashboard':
        with suppress(KeyboardInterrupt):
            signal.pause()
        return 0
    import rclpy
    from rclpy.executors import ExternalShutdownException
    rclpy.init()
    try:
        publisher = rclpy.create_node(name)
        messages = {'explorer': explorer, 'cmp_sim': cmp_sim}[name](publisher)
        publisher.create_timer(0.2, messages)
        messages()
        (folder / f'{name}.published').touch()
        rclpy.spin(publisher)
    except (KeyboardInterrupt, ExternalShutdownException):
        pass
    return 0


def cmp_sim(node):
    from mnm_ros.messages import LATCHED
    from std_msgs.msg import Int64
    setting = node.create_publisher(Int64, 'true_setting', LATCHED)
    exploration = node.create_publisher(Int64, 'exploration_steps', LATCHED)

    def publish() -> None:
        setting.publish(Int64(data=0))
        exploration.publish(Int64(data=1234))
    return publish


def explorer(node):
    from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue
    from mnm_ros.core.model.policy import Hypothesis, Policy
    from mnm_ros.messages import encode_known_states, LATCHED, PolicySet
    from std_msgs.msg import Int64MultiArray, String
    phase = node.create_publisher(String, 'phase', LATCHED)
    known = node.create_publisher(Int64MultiArray, 'known_states', LATCHED)
    policies = node.create_publisher(Int64MultiArray, 'policies', LATCHED)
    diagnostics = node.create_publisher(DiagnosticArray, '/diagnostics', 10)
    states = {'right': (0, 1, 2), 'wrong': (0, 1), 'none': ()}[os.environ['STAND_IN']]
    found = Hypothesis(1, 0, 9, tuple(
        Policy(state, 9, states, ((0,) * len(states),)) for state in states))
    report = DiagnosticStatus(
        name='/explorer: exploration',
        values=[KeyValue(key=key, value=value) for key, value in {
            'round': '1', 'candidates': '3', 'steps': '5678', 'steps_per_second': '90.0',
            'changes_noticed': '0', 'changes_relearnt': '0'}.items()])

    def publish() -> None:
        phase.publish(String(data='building/discovery'))
        if states:
            known.publish(encode_known_states(found))
            policies.publish(PolicySet.of(found).to_msg())
        diagnostics.publish(DiagnosticArray(status=[report]))
    return publish


if __name__ == '__main__':
    sys.exit(console() if sys.argv[1] == 'console' else node(sys.argv[1]))
