# SPDX-License-Identifier: Apache-2.0

"""Keeps the exploration of a node on disk, and brings it back."""

from __future__ import annotations

from collections.abc import Callable, Mapping
import math
from pathlib import Path
import sqlite3
import time
from typing import Any, NamedTuple

from mnm_ros.checkpoint.carry_over import (
    check_same_graph,
    described_beside,
    described_in,
    kept_beside,
    OtherGraph,
)
from mnm_ros.checkpoint.event_log import EventLog
from mnm_ros.checkpoint.event_log import KEPT as EVENTS
from mnm_ros.checkpoint.forget import forget, Forgotten
from mnm_ros.checkpoint.input_log import LoadCancelled, SavedInputs
from mnm_ros.checkpoint.store import Store
from mnm_ros.checkpoint.warm_start import KEY, VERSION, warm_start
from mnm_ros.core.errors import CheckpointError, FileError, InvalidValueError, ParameterError
from mnm_ros.core.exploration import Exploration
from mnm_ros.core.mnm.base import Recollection
from mnm_ros.core.model.declaration import Declaration
from mnm_ros.core.presets import OPTIONS, options_by_name, settings_by_name
from mnm_ros.core.progress.said import (
    as_said,
    DiskTooSlow,
    NothingKept,
    NothingSaved,
    ReadingDisk,
    Reason,
)
from mnm_ros.files import user_path
from mnm_ros.nodes.common.node_scope import NodeInterface
from mnm_ros.nodes.common.spin import ending
from mnm_ros.nodes.exploring.kept_files import KeptFiles
from mnm_ros.parameters import Parameters
from mnm_ros.places.graph_change import GraphChange
from mnm_ros.robot_description import KEPT, RobotDescription, UNDESCRIBED

_SLOW = 1.0        # s, to wait for the disk: less than the heartbeat may be late
_SHOWN = 600.0     # s, for which a refusal is shown at least, unless somebody accepts it
_QUIET = 10.0      # s, between two warnings that it is slower
_ASKED = ('actions', 'radius', 'epsilon', 'delta', 'preset', 'seed')
_OPTIONS = ('overrides', *(option.name for option in OPTIONS if option.parameter))


class RestoredExploration(NamedTuple):
    """
    The content of the disk, if any, and a line for the log.

    :ivar refusals: which files were set aside, and why.
    :ivar repairs: what was taken from the transition log, or from before the graph has changed.
    :ivar number: of inputs from which it goes on.
    """

    exploration: Exploration | None
    text: str
    refusals: tuple[str, ...]
    repairs: tuple[str, ...]
    number: int = 0


class ExplorationStore:
    """
    Makes the exploration that the parameters ask for, and keeps it.

    What is on the disk is replayed by ``restore``, which may take long: it may run in a thread of
    its own. Until ``adopt`` the exploration is one of which nothing is kept.

    :param node: whose name the files have, and that logs.
    :param parameters: of the explorer; ``checkpoint_dir`` names the folder.
    :param described: what the robot side says that it is; ``UNDESCRIBED`` if it is not known yet.
    :param declared: where actions lead, as the exploration will rely on it.
    :ivar identity: what the exploration is asked for, and the version of the package.
    :ivar exploration: what goes on.
    :ivar events: keeps what happens; None without a folder.
    :ivar files: keeps what the robot side and the explorer say beside that.
    :ivar waiting: whether nothing is kept before what is on the disk has been adopted.
    :raises ParameterError: if the parameters do not make a problem that can be solved, or if the
        folder cannot be made.
    """

    def __init__(self, node: NodeInterface, parameters: Parameters,
                 described: RobotDescription = UNDESCRIBED,
                 declared: Declaration | None = None) -> None:
        self._node = node
        try:
            asked = {**{name: parameters[name] for name in _ASKED},
                     **options_by_name({name: parameters[name] for name in _OPTIONS})}
            self._settings = settings_by_name(asked)
        except ValueError as error:
            raise ParameterError(str(error)) from None
        self.identity = {'version': VERSION, **asked}
        self._unchecked: tuple[Path, Recollection] | None = None    # until there is a graph
        self._recollection = self._recall(
            parameters['warm_start'], parameters['checkpoint_dir'], described)
        self._seed: int = parameters['seed']
        self._other_graph: OtherGraph | None = None    # until the exploration moves to it
        self._store: Store | None = None
        self._abandoned = False
        self.events: EventLog | None = None
        self._told = False
        self._refusals: tuple[str, ...] = ()
        self._refused_at = 0    # inputs
        self._shown_until = 0.0
        self.waiting = False
        self.files = KeptFiles(node)
        self.exploration = self._new()
        if parameters['checkpoint_dir']:
            self._open(parameters['checkpoint_dir'], parameters['transition_log'])
            self._other_graph = self._compare(
                described, declared and declared.audited(parameters['audit']))
        if not self.waiting:
            self._begin()

    def _compare(self, described: RobotDescription,
                 declared: Declaration | None) -> OtherGraph | None:
        """Return the graph that differs from the one that files are kept of, if it does."""
        change = GraphChange.between(self.described, described)
        if change is None or not change.text:
            return None
        other = OtherGraph(change, described, declared)
        return None if other.is_served_by(self._folder, self._name, self.identity) else other

    def _open(self, folder: str, transition_log: bool) -> None:
        node, self._transition_log = self._node, transition_log
        self._name = name = _file_name(node)
        try:
            self._folder = path = user_path(folder)
            self._store = Store(path, name, self.identity, transition_log)
            self.waiting = not self._store.empty
        except (FileError, OSError) as error:
            self.close()
            raise ParameterError(
                f"parameter 'checkpoint_dir' is {folder!r}, expected a folder that can be "
                f'written: {error}') from None
        for remark in self._store.remarks():
            node.get_logger().warning(remark)
        self.events = EventLog(path / f'{name}{EVENTS}', node.get_logger().warning)
        self.files = KeptFiles(node, path, name)

    @property
    def problem(self) -> str:
        """Why nothing is kept at the moment, or empty."""
        return self._store.problem if self._store else ''

    @property
    def refusals(self) -> tuple[str, ...]:
        """
        Why files were not gone on from, and where they are; what is missing for good.

        None any more after ``save``; nor minutes later, once a resume point follows on others.
        """
        if (self._refusals and self._store and self._store.begins > self._refused_at
                and time.monotonic() > self._shown_until):
            self._refusals = ()
        return self._refusals

    def tell(self) -> list[str]:
        """Log once when a problem begins or ends; log and return what is missing for good."""
        if self._store is None:
            return []
        logger, problem = self._node.get_logger(), self.problem
        if problem and not self._told:
            logger.warning(f'not everything can be saved: {problem}')
        elif self._told and not problem:
            logger.info('everything can be saved again')
        self._told = bool(problem)
        losses = [f'checkpoint incomplete: {loss}' for loss in self._store.losses()]
        for loss in losses:
            logger.error(loss)
        if losses:
            self._show((*self._refusals, *losses), self._store.begins)
        return losses

    def _show(self, refusals: tuple[str, ...], number: int) -> None:
        """Let ``refusals`` be these, from so many inputs on."""
        self._refusals, self._refused_at = refusals, number
        self._shown_until = time.monotonic() + _SHOWN

    @property
    def described(self) -> RobotDescription:
        """Return what a robot side has said about itself before; ``UNDESCRIBED`` if nothing."""
        return self._other_graph.described if self._other_graph else self.files.described

    def describe(self, text: str) -> None:
        """Keep what the robot side says about itself, and since when; reports show it."""
        if self._unchecked and text:
            self._check_steps(*self._unchecked, RobotDescription.from_text(text))
        if self._other_graph is None:
            self.files.describe(text)

    def _check_steps(self, log: Path, taken: Recollection, described: RobotDescription) -> None:
        """Say if a log has a step that a graph has not; once there is a graph."""
        if not described.moves:
            return
        self._unchecked = None
        places = {None, *described.moves, *described.names, *described.declaration.successors}
        for state, action, after in taken.steps:
            if not {state, after} <= places or action >= len(described.moves.get(
                    state, described.actions)):
                self._node.get_logger().error(
                    f"parameter 'warm_start': {log} has a step by action {action} from state "
                    f'{state} to {after}, which the graph of the robot side has not: it is of '
                    'another graph; start without it, and with an empty checkpoint_dir')
                return

    def hurry(self) -> None:
        """Write everything to the disk before anything else is done, as long as it is quick."""
        if self._store is not None and not self.waiting and not self._store.flush(_SLOW):
            self._node.get_logger().warning(
                'what is forbidden may be forgotten by a crash: '
                f'{self._store.problem or "the disk is too slow"}')

    def kept_soon(self) -> Callable[[float], bool]:
        """
        Let everything be written, and hold nothing up meanwhile.

        :return: says, for a time in s, whether it is, or cannot be; infinity is the end.
        """
        store = self._store
        if store is None or self.waiting:
            return lambda now: True
        wanted, late = store.hurry(), time.monotonic() + _SLOW

        def is_over(now: float) -> bool:
            if store.has_written(wanted) or store.problem:    # which is reported
                return True
            if late <= now < math.inf:
                self._node.get_logger().warning(
                    'a hypothesis waits for the disk, which is slow: a restart must not withdraw '
                    'what was published', throttle_duration_sec=_QUIET)
            return now == math.inf
        return is_over

    @property
    def keeps(self) -> bool:
        """Whether there is a folder in which anything is kept."""
        return self._store is not None

    def save(self) -> tuple[bool, Reason]:
        """Write everything to the disk; return success, and the file or the reason."""
        if self._store is None:
            return False, NothingSaved(NothingKept())
        if self.waiting or self._store.reading:
            return False, NothingSaved(ReadingDisk())
        if not self._store.flush(_SLOW):
            return False, NothingSaved(as_said(self._store.problem) or DiskTooSlow())
        self._refusals = ()
        return True, str(self._store.path)

    def restore(self) -> RestoredExploration:
        """
        Replay what is on the disk; nothing else of this object may be called meanwhile.

        :raises CheckpointError: if there is no folder, or the disk is too slow.
        :raises OSError: if the disk is too full for files to be read.
        :raises LoadCancelled: after ``abandon``.
        """
        if self._store is None:
            raise CheckpointError("parameter 'checkpoint_dir' is ''")
        if not self.waiting:
            self.save()
        begun, carried = time.monotonic(), self._carry_over()
        spent = time.process_time()
        loaded = self._store.load(self._revive)
        found = (tuple(f'checkpoint refused: {reason}' for reason in self._store.refusals),
                 (*carried, *(f'checkpoint repaired: {repair}' for repair in self._store.repairs)))
        if loaded is None:
            return RestoredExploration(None, '', *found)
        saved, exploration = loaded
        self._store.attach(exploration, saved.number, since=len(saved.inputs),
                           spent=time.process_time() - spent)
        exploration.lose_place()
        return RestoredExploration(
            exploration, f'going on from {saved.path}: step {exploration.steps}, '
            f'{time.monotonic() - begun:.1f} s', *found, number=saved.number)

    def _carry_over(self) -> tuple[str, ...]:
        """Let the files be of the graph that there is now; return what has come of that."""
        other, store = self._other_graph, self._store
        if other is None or store is None:
            return ()
        carried = store.rewrite(lambda: other.carry_over(
            self._folder, self._name, self.identity, self._transition_log, self._new,
            lambda: self._abandoned))
        self._other_graph = None
        return (str(carried),)

    def _new(self, point: Mapping[str, Any] | None = None) -> Exploration:
        return Exploration(self._settings, self._seed, point, self._recollection)

    def forget(self, source: str, since: str) -> Forgotten | Exception:
        """Take back what came from a source, or return why not; ``restore`` has to follow."""
        if self._store is None:
            return CheckpointError("parameter 'checkpoint_dir' is ''")
        try:
            return self._store.rewrite(
                lambda: forget(self._folder, source, since, self._name))
        except (CheckpointError, InvalidValueError, OSError, sqlite3.Error) as error:
            return error

    def adopt(self, restored: RestoredExploration) -> None:
        """
        Go on with what was restored; at the start, begin if there is nothing.

        :raises CheckpointError: later than that, if there is nothing.
        """
        logger = self._node.get_logger()
        for warning in (*restored.refusals, *restored.repairs):
            logger.warning(warning)
        nothing = restored.exploration is None and not self.waiting
        self._show(restored.refusals,
                   self._store.begins if nothing and self._store else restored.number)
        if nothing:
            raise CheckpointError('; '.join(restored.refusals) or 'nothing has been saved yet')
        self.exploration.listeners.clear()    # it is left, or begins only now
        self.files.keep_world_again()
        if restored.exploration is None:
            self._begin()
        else:
            self.exploration = restored.exploration
            logger.info(restored.text)
        self.waiting = False

    def abandon(self) -> None:
        """Let ``restore`` end soon, in vain: it is not waited for any more."""
        self._abandoned = True

    def close(self) -> None:
        """Write what is left, and report what could not be written."""
        self.abandon()
        if self._store is not None:
            self._store.close()
            self.tell()

    def _recall(
            self, log: str, folder: str, described: RobotDescription) -> Recollection | None:
        """Return what the exploration begins with, and make it part of what is asked for."""
        if not log:
            return None
        try:
            path = user_path(log).resolve()
            if folder and path.parent == user_path(folder).resolve():
                raise CheckpointError(
                    'it would be set aside there, expected another folder than '
                    'checkpoint_dir')
            known = check_same_graph(path, described)
            found, self.identity[KEY] = warm_start(path, self.identity, ending)
            if not known:
                self._unchecked = path, found
                self._node.get_logger().warning(
                    f"parameter 'warm_start': {kept_beside(path)} is missing, so that nobody can "
                    'check whether states and actions mean the same now')
        except (CheckpointError, FileError, OSError) as error:
            raise ParameterError(f"parameter 'warm_start' is {log!r}: {error}") from None
        except LoadCancelled:
            raise ParameterError("parameter 'warm_start': broken off by a signal") from None
        return found

    def _revive(self, saved: SavedInputs) -> Exploration:
        exploration = self._new(saved.point)
        saved.replay(exploration, lambda: self._abandoned)
        return exploration

    def _begin(self) -> None:
        """Keep the exploration from its beginning."""
        if self._store is not None:
            self._store.begin_generation(0, None)
            self._store.attach(self.exploration)


def concerns_graph(node: NodeInterface, folder: str, log: str) -> bool:
    """
    Return whether what an exploration goes on from is of a graph.

    :param folder: in which it is kept; empty for none.
    :param log: with which it begins; empty for none.
    """
    try:
        return bool(log and described_beside(user_path(log).resolve()).moves
                    or folder and described_in(
                        user_path(folder) / f'{_file_name(node)}{KEPT}').moves)
    except (OSError, ValueError):    # the store says what is wrong
        return False


def _file_name(node: NodeInterface) -> str:
    """Return how the names of all files of a node begin."""
    return node.get_fully_qualified_name().strip('/').replace('/', '.')
