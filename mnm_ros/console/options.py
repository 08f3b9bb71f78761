# SPDX-License-Identifier: Apache-2.0

"""What `scripts/explore` runs: its nodes with their arguments, and when it stops."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
import json

from mnm_ros.core.model.problem import Problem
from mnm_ros.language import ENGLISH
from mnm_ros.simulation import scenario as scenarios
from mnm_ros.simulation import world as worlds
from mnm_ros.simulation.diff_drive import Body, driver_parameters
from mnm_ros.simulation.graph_world import GraphWorld
from mnm_ros.simulation.plan_world import PlanWorld
from mnm_ros.view.telemetry import Telemetry


@dataclass(frozen=True)
class StopCondition:
    """When to stop: after the first hypothesis, and once so many changes are relearnt."""

    changes: int = 0

    def reached(self, heard: Telemetry) -> bool:
        """Return whether there is a hypothesis and enough changes have been relearnt."""
        relearnt = heard.count('changes_relearnt') or 0
        return heard.hypothesis is not None and relearnt >= self.changes

    def awaited(self, heard: Telemetry) -> str:
        """Return in a few words what is still missing."""
        if not heard.phase:
            return 'the first message of the explorer'
        if heard.hypothesis is None:
            return 'the first hypothesis'
        relearnt = heard.count('changes_relearnt') or 0
        return f'a change to be noticed and relearnt ({relearnt} of {self.changes} so far)'


@dataclass(frozen=True)
class Options:
    """
    The programs to run, and when to stop.

    :ivar scenario: the truth, be it simulated by cmp_sim or equivalent to the world; None with a
        robot of one's own.
    :ivar world: what diff_drive_sim simulates; None if cmp_sim simulates the scenario.
    :ivar problem: what cmp_sim, diff_drive_sim and the explorer receive.
    :ivar goal: when to stop; None to watch on.
    :ivar timeout: in s; None for no limit.
    :ivar parameters: pairs of a node and ``name:=value`` for it.
    :ivar namespace: of all nodes.
    :ivar params_file: of the explorer of one's own robot; '' for none.
    :ivar ros_arguments: of all nodes, ``--ros-args`` before them.
    :ivar page: whether the page is served, too.
    :ivar robots: namespaces of robots that explore together; empty for one without its own.
    :ivar physics: whether diff_drive_sim has the physics of MuJoCo.
    :ivar language: of what the terminal, the page and the topics say.
    """

    scenario: scenarios.Scenario | None
    world: worlds.World | None
    problem: Problem
    preset: str
    seed: int
    goal: StopCondition | None
    timeout: float | None
    parameters: tuple[tuple[str, str], ...]
    namespace: str = '/'
    params_file: str = ''
    ros_arguments: tuple[str, ...] = ()
    page: bool = False
    robots: tuple[str, ...] = ()
    physics: bool = False
    language: str = ENGLISH

    @property
    def title(self) -> str:
        """Return what is explored, and with how many robots."""
        if not self.robots:
            return self.scenario.name if self.scenario is not None else 'your robot'
        number = f'{len(self.robots)} robot{"s" * (len(self.robots) > 1)}'
        return f'{self.scenario.name}, {number}' if self.scenario is not None else (
            f'your {number}')

    @property
    def settings(self) -> int:
        """How many settings what is explored has; 0 if that is not known."""
        return len(self.scenario.settings) if self.scenario is not None else 0

    @property
    def address(self) -> str:
        """Return where the page is, for people; empty if there is none."""
        given = dict(assignment.split(':=', 1) for node, assignment in self.parameters
                     if node == 'dashboard')
        host, port = given.get('host', '127.0.0.1'), given.get('port', '8080')
        return f'page at http://{host}:{port}; ' if self.page else ''

    def commands(self) -> dict[str, list[str]]:
        """
        Return the arguments of each node, ``-m module --ros-args ...``, by its name.

        Before the name of a node of one of several robots is the namespace of that robot.
        """
        own = self._simulated(self.scenario) if self.scenario is not None else {'explorer': []}
        if self.page:
            # From the page one robot can be sent to a state, which the navigator does.
            own |= {'dashboard': []} if self.robots else {'navigator': [], 'dashboard': []}
        if self.robots:
            own['explorer'].append(f'robots:={json.dumps(self.robots)}')
        for name, assignments in own.items():
            assignments += [assignment for node, assignment in self.parameters
                            if node == name.rpartition('/')[2]]
        return {name: self._command(name, assignments) for name, assignments in own.items()}

    def _command(self, name: str, assignments: Sequence[str]) -> list[str]:
        robot, _, node = name.rpartition('/')
        namespace = f'{self.namespace.rstrip("/")}/{robot}'.rstrip('/')
        place = ['-r', f'__ns:={namespace}'] if namespace else []
        file = ['--params-file', self.params_file] if self.params_file else []
        return ['-m', f'mnm_ros.nodes.{node}', '--ros-args', *place, *file, *(
                word for assignment in assignments for word in ('-p', assignment)),
                *self.ros_arguments]

    def _simulated(self, scenario: scenarios.Scenario) -> dict[str, list[str]]:
        """Return what the options say about the parameters of each node."""
        shared = [f'radius:={self.problem.radius!r}', f'epsilon:={self.problem.epsilon!r}']
        actions = json.dumps(scenario.actions, ensure_ascii=False)
        explorer = [*shared, f'seed:={self.seed}', f'actions:={actions}',
                    f'preset:={self.preset}', f'delta:={self.problem.delta!r}',
                    "stop_dir:=''"]    # nobody stands beside a simulated robot
        if self.world is not None:
            explorer.append('step_timeout:=60.0')
        found = {}
        for number, robot in enumerate(self.robots or ['']):
            before = f'{robot}/' if robot else ''
            seed = f'seed:={self.seed + number}'    # equal ones would have the same luck
            if self.world is None:
                path = json.dumps(str(scenario.path))
                found[f'{before}cmp_sim'] = [*shared, seed, f'scenario:={path}']
                continue
            path = json.dumps(str(self.world.path.absolute()))
            map_file = self.world.map_file if isinstance(self.world, GraphWorld) else None
            simulator, driver = _node_parameters(self.physics, self.world)
            found[f'{before}diff_drive_sim'] = [
                seed, f'{self.world.kind}:={path}',
                *_assigned({'map': str(map_file)} if map_file else {}),
                'real_time_factor:=0.0', 'tick:=0.1',
                *(['publish_clock:=false'] if robot else []), *_assigned(simulator)]
            found[f'{before}{self.world.driver}'] = [*_assigned(driver)]
        return {**found, 'explorer': explorer}


def _assigned(values: Mapping[str, object]) -> Iterator[str]:
    return (f'{name}:={json.dumps(value)}' for name, value in values.items())


def body_in(physical: bool, world: worlds.World) -> Body:
    """Return the simulated robot, of the size for which a plan was made."""
    body = Body()
    if physical:
        from mnm_ros.simulation.physics import TURTLEBOT
        body = TURTLEBOT
    return replace(body, radius=world.plan.robot_radius) if (
        isinstance(world, PlanWorld)) else body


def _node_parameters(
        physical: bool, world: worlds.World) -> tuple[Mapping[str, object], Mapping[str, object]]:
    """Return by name the parameters of a robot for diff_drive_sim, and those for its driver."""
    body = body_in(physical, world)
    if not physical:
        return {'robot_radius': body.radius}, driver_parameters(world, body)
    from mnm_ros.simulation import physics
    return physics.simulator_parameters(body), physics.driver_parameters(world, body)
