# SPDX-License-Identifier: Apache-2.0

"""
The subcommands of ``mnm_ros``, and where each of them leads.

Nothing else is imported before it is known which subcommand was asked for: help comes at once,
and without ROS.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
import importlib
import os
import sys
from typing import NamedTuple

from mnm_ros.console.arguments import COMPLETING, Parser
from mnm_ros.core.errors import NoAnswerError
from mnm_ros.files import open_streams
from mnm_ros.version import __version__

EPILOG = """\
commands:
{commands}

mnm_ros COMMAND --help says more about each. Arguments for ROS come last, after --ros-args. The
command finds nodes in the ROS domain of the variable ROS_DOMAIN_ID (default 0).
"""

NO_ROS = """\
mnm_ros {command}: {missing} cannot be imported.
Source a ROS 2 (. /opt/ros/jazzy/setup.bash), or install one from wheels (pip install '.[ros]')."""


class Command(NamedTuple):
    """
    A subcommand.

    :ivar module: with the function after a colon, else ``main``, which takes the arguments and
        ``mnm_ros COMMAND``, and returns the exit status.
    """

    module: str
    help: str    # noqa: A003


COMMANDS = {
    'explore': Command('console.__main__',
                       'explore a simulated robot, or your own, and watch it live'),
    'watch': Command('command.watch',
                     'show the knowledge, activity and decisions of a running explorer'),
    'events': Command('command.watch:events', 'print the last events, with clock times'),
    'policies': Command('command.knowledge:policies',
                        'print the learnt policies, or the way to one state'),
    'export': Command('command.knowledge:export',
                      'write states, transitions and policies for other programs'),
    'map': Command('command.map', 'make a place graph or a plan of a map of nav2'),
    'run': Command('command.run', 'run a node of the package'),
    'goal': Command('command.call:goal', 'send the robot to a known state'),
    'cancel': Command('command.call', 'give up the goal after the current step'),
    'pause': Command('command.call', 'pause exploration after the current step'),
    'resume': Command('command.call', 'go on exploring, beginning with a RESET'),
    'stop': Command('command.call', 'bring the robot to rest at once, until `go`'),
    'go': Command('command.call', 'let the robot move again after `stop`'),
    'home': Command('command.call', 'let the robot return home'),
    'recover': Command('command.call', 'lead the explorer out of the phase fault'),
    'save': Command('command.call', 'write everything learnt to the disk now'),
    'load': Command('command.call', 'go back to the state on the disk, while paused'),
    'look': Command('command.call', 'try closed ways now'),
    'improve': Command('command.call:improve', 'improve policies until they are nearly the best'),
    'change': Command('command.call', 'change a simulated world now'),
    'preflight': Command('command.run', 'check a robot side before a trial'),
    'trial': Command('command.run:trial', 'run an explorer and save its data in a folder'),
    'report': Command('trial.report', 'write the report of a trial or a log'),
    'contract': Command('contract.__main__', 'test a robot side against the step protocol'),
    'forget': Command('command.forget', 'remove the data of one robot or node'),
    'checkpoint': Command('checkpoint.__main__', 'print the contents of checkpoint files'),
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a subcommand and return its exit status."""
    if arguments is None and sys.stdout is sys.__stdout__:
        open_streams()
        _keep_output()
    words = list(sys.argv[1:] if arguments is None else arguments)
    try:
        try:
            return _run(words)
        finally:
            print(end='', flush=True)
    except BrokenPipeError:
        # The output is read no more, so the interpreter must not flush it at its end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0


def _keep_output() -> None:
    """Let libraries write to stderr what they write to stdout: Fast DDS prints errors there."""
    out = sys.stdout
    sys.stdout = open(os.dup(out.fileno()), 'w', buffering=1 if out.isatty() else -1,
                      encoding=out.encoding, errors=out.errors)
    os.dup2(sys.stderr.fileno(), out.fileno())


def _run(words: list[str]) -> int:
    if COMPLETING in os.environ:
        words = _completed()
    if not words or words[0] not in COMMANDS:
        _parser().parse_args(words or ['--help'])    # which ends the program
    try:
        module, _, function = COMMANDS[words[0]].module.partition(':')
        main = getattr(importlib.import_module(f'mnm_ros.{module}'), function or 'main')
        return int(main(words[1:], f'mnm_ros {words[0]}'))
    except NoAnswerError as error:
        print(f'mnm_ros {words[0]}: {error}', file=sys.stderr)
        return 1
    except ModuleNotFoundError as error:
        missing = (error.name or '').partition('.')[0]
        if missing == 'mnm_ros':
            raise
        print(NO_ROS.format(missing=missing, command=words[0]), file=sys.stderr)
        return 1
    except RuntimeError as error:
        if 'rclpy' not in sys.modules:
            raise
        from mnm_ros.nodes.common.spin import refusal
        if not (reason := refusal(error)):
            raise
        print(f'mnm_ros {words[0]}: {reason}', file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130


def _completed() -> list[str]:
    """Return the subcommand whose arguments the shell has to complete, or nothing."""
    words = os.environ['COMP_LINE'][:int(os.environ['COMP_POINT']) + 1].split(' ')
    if len(words) < 3 or words[1] not in COMMANDS:
        return []
    os.environ[COMPLETING] = '2'    # the subcommand is the program then
    return words[1:2]


def _parser() -> Parser:
    """Return a parser that knows the names of the subcommands, for help and for errors."""
    lines = (f'  {name:<11} {command.help}' for name, command in COMMANDS.items())
    parser = Parser(
        prog='mnm_ros', usage='%(prog)s [-h] [--version] COMMAND ...',
        epilog=EPILOG.format(commands='\n'.join(lines)),
        formatter_class=argparse.RawDescriptionHelpFormatter,
        description='Explore with a robot, operate the robot, and use the learnt policies.')
    parser.add_argument('--version', action='version',
                        version=f'%(prog)s {__version__}')
    parser.add_argument('command', choices=tuple(COMMANDS), metavar='COMMAND',
                        help='one of the commands below')
    return parser
