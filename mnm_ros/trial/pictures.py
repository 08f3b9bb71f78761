# SPDX-License-Identifier: Apache-2.0

"""The pictures of a report: SVG that stands in the page itself, drawn with matplotlib."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from io import StringIO
from typing import Any, NamedTuple

from mnm_ros.core.model.policy import Policy
from mnm_ros.core.model.problem import RESET
from mnm_ros.robot_description import Point, RobotDescription
from mnm_ros.trial.replay import ReplaySummary
from mnm_ros.view.layout import Layout

COLOURS = {'home': '#1f5fa8', 'known': '#2e9e5b', 'candidate': '#e0a030', 'wall': '#444444',
           'faint': '#c8c8c8', 'target': '#c0392b'}
_FEW = 14         # states up to which arrows have the names of their actions
_NAMED = 120      # states up to which they are named in the picture
_SELDOM = 0.05    # an outcome that is rarer is not drawn where there are many



class Arrow(NamedTuple):
    """Where an action leads to from a state, with which probability."""

    state: int
    action: int
    following: int
    probability: float


class FloorPlan:
    """
    Where the states are drawn, and what leads from one to another.

    :param summary: of the replay.
    :param description: of the robot side.
    """

    def __init__(self, summary: ReplaySummary, description: RobotDescription) -> None:
        exploration = summary.exploration
        self.home = exploration.home
        self.known = exploration.hypothesis.targets if exploration.hypothesis else ()
        self.arrows = [
            Arrow(state, action, following, count / sum(seen.values()))
            for (state, action), seen in summary.counts.items() if action != RESET
            for following, count in seen.items() if following != state]
        here = () if self.home is None else (self.home,)
        self.states = list(dict.fromkeys((
            *here, *self.known, *(state for arrow in self.arrows
                                  for state in (arrow.state, arrow.following)))))
        self.walls = description.walls
        self.names = description.names
        self.placed = self._described(description)
        self.places = self.placed or self._laid_out()

    def _described(self, description: RobotDescription) -> dict[int, Point]:
        """Return the true places, if every state has one."""
        if not all(state in description.positions for state in self.states):
            return {}
        return {state: description.positions[state] for state in self.states}

    def _laid_out(self) -> dict[int, Point]:
        layout = Layout()
        links = [(arrow.state, arrow.following) for arrow in self.arrows]
        for _ in range(30):
            layout.update(self.states, links)
        return {state: layout.place(state) or (0.0, 0.0) for state in self.states}

    @property
    def unit(self) -> float:
        """Return the typical distance between two neighbours."""
        lengths = sorted(abs(complex(*self.places[a.state]) - complex(*self.places[a.following]))
                         for a in self.arrows)
        return lengths[len(lengths) // 2] or 1.0 if lengths else 1.0

    @property
    def box(self) -> tuple[float, float, float, float]:
        """Return the ends in x and in y, with room for a state at the border."""
        xs, ys = zip(*self.places.values())
        room, edge = 0.75 * self.unit, 0.05 * self.unit
        across = [x for wall in self.walls for x in wall[::2]]
        along = [y for wall in self.walls for y in wall[1::2]]
        return (min([min(xs) - room, *(x - edge for x in across)]),
                max([max(xs) + room, *(x + edge for x in across)]),
                min([min(ys) - room, *(y - edge for y in along)]),
                max([max(ys) + room, *(y + edge for y in along)]))

    @property
    def size(self) -> tuple[float, float]:
        """Return width and height of the box in units."""
        left, right, low, high = self.box
        return (right - left) / self.unit, (high - low) / self.unit


def draw_graph(plan: FloorPlan, actions: Sequence[str]) -> str:
    """Return the picture of all states, with an arrow for each action that leads elsewhere."""
    wide, high = plan.size
    scale = min(1.5 if len(plan.states) <= _FEW else 0.95, 9.4 / wide, 9.0 / high)
    figure, axes = _axes(wide * scale, high * scale)
    _draw_walls(axes, plan)
    for arrow in plan.arrows:
        if len(plan.states) <= _FEW or arrow.probability >= _SELDOM:
            _draw_arrow(axes, plan, arrow, f'C{arrow.action % 10}', 0.55 + 1.3 * arrow.probability,
                        0.35 + 0.65 * arrow.probability, scale)
    if len(plan.states) <= _FEW:
        _name_arrows(axes, plan, actions)
    _draw_states(axes, plan, scale, named=len(plan.states) <= _NAMED)
    _frame(axes, plan)
    return _svg(figure)


def draw_policy(plan: FloorPlan, policy: Policy,
                counts: Mapping[tuple[int, int], Mapping[int, int]]) -> str:
    """Return the picture of the way to one state, as far as the policy leads from home."""
    wide, high = plan.size
    scale = min(0.62, 3.3 / wide, 3.3 / high)
    figure, axes = _axes(wide * scale, high * scale)
    _draw_walls(axes, plan)
    ways = _ways(policy, counts)
    for arrow in ways:
        _draw_arrow(axes, plan, arrow, f'C{arrow.action % 10}', 0.6 + 1.6 * arrow.probability,
                    0.3 + 0.7 * arrow.probability, scale)
    size = max(8.0, 900 * scale ** 2 / 4)
    for state, place in plan.places.items():
        colour = (COLOURS['target'] if state == policy.target else COLOURS['home']
                  if state == plan.home else COLOURS['faint'])
        axes.scatter(*place, s=size, color=colour, zorder=3, linewidths=0)
    _frame(axes, plan)
    return _svg(figure)


def draw_time(summary: ReplaySummary) -> str:
    """Return known states and candidates over the steps, with the changes that were noticed."""
    from matplotlib.figure import Figure
    from matplotlib.ticker import MaxNLocator
    end = max(1, summary.exploration.steps)
    figure = Figure(figsize=(9.4, 2.9), layout='constrained')
    axes = figure.subplots()
    for values, name, colour in ((summary.known, 'known', COLOURS['known']),
                                 (summary.candidates, 'candidates', COLOURS['candidate'])):
        steps, counts = zip(*(values or [(0, 0)]), (end, values[-1][1] if values else 0))
        axes.step(steps, counts, where='post', label=name, color=colour)
    axes.set_ylabel('states')
    axes.set_ylim(bottom=0)
    for number, step in enumerate(summary.noticed_at):
        axes.axvline(step, linestyle='--', color='black', linewidth=0.9,
                     label='change noticed' if number == 0 else None)
    axes.set_xlim(0, end)
    axes.yaxis.set_major_locator(MaxNLocator(integer=True, nbins=6))
    axes.spines[['top', 'right']].set_visible(False)
    axes.legend(loc='upper center', bbox_to_anchor=(0.5, 1.2), ncols=4, frameon=False, fontsize=9)
    axes.set_xlabel('steps')
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_formatter(lambda value, _: f'{value:,.0f}')
    return _svg(figure)


def _ways(policy: Policy, counts: Mapping[tuple[int, int], Mapping[int, int]]) -> list[Arrow]:
    """Return what the policy plays in the states to which it leads from home, and where to."""
    found: dict[tuple[int, int, int], float] = {}
    here = {policy.states[0]: None}
    done: set[tuple[int, int]] = set()
    for step in range(policy.horizon):
        after: dict[int, None] = {}
        for state in here:
            action = policy.action(step, state) if policy.covers(state) else RESET
            if state == policy.target or action == RESET:
                continue
            seen = counts.get((state, action), {})
            for following, count in seen.items():
                if following != state:
                    found[state, action, following] = count / sum(seen.values())
                after[following] = None
            done.add((state, action))
        if after.keys() <= here.keys() and len(policy.actions) == 1:
            break
        here = {**here, **after} if len(policy.actions) == 1 else after
    return [Arrow(*key, probability) for key, probability in found.items()]


def _axes(width: float, height: float) -> tuple[Any, Any]:
    from matplotlib.figure import Figure
    figure = Figure(figsize=(width, height))
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set_aspect('equal')
    axes.axis('off')
    return figure, axes


def _frame(axes: Any, plan: FloorPlan) -> None:
    left, right, low, high = plan.box
    axes.set_xlim(left, right)
    axes.set_ylim(low, high)


def _draw_walls(axes: Any, plan: FloorPlan) -> None:
    from matplotlib.collections import LineCollection
    if plan.walls:
        axes.add_collection(LineCollection(
            [((x1, y1), (x2, y2)) for x1, y1, x2, y2 in plan.walls], colors=COLOURS['wall'],
            linewidths=1.6, capstyle='projecting', zorder=1))


def _draw_arrow(axes: Any, plan: FloorPlan, arrow: Arrow, colour: str, width: float, alpha: float,
                scale: float) -> None:
    axes.annotate(
        '', plan.places[arrow.following], plan.places[arrow.state], zorder=2,
        arrowprops={'arrowstyle': '-|>', 'color': colour, 'linewidth': width, 'alpha': alpha,
                    'shrinkA': 12 * scale, 'shrinkB': 12 * scale, 'mutation_scale': 4 + 8 * scale,
                    'connectionstyle': 'arc3,rad=0.22'})


def _name_arrows(axes: Any, plan: FloorPlan, actions: Sequence[str]) -> None:
    """Write the most likely actions beside each arrow, together where several lead there."""
    named: dict[tuple[int, int], list[str]] = {}
    for arrow in sorted(plan.arrows, key=lambda arrow: -arrow.probability):
        if arrow.probability >= _SELDOM:
            named.setdefault((arrow.state, arrow.following), []).append(
                f'{actions[arrow.action]} {arrow.probability:.2g}')
    for (state, following), names in named.items():
        begin, end = complex(*plan.places[state]), complex(*plan.places[following])
        middle = (begin + end) / 2 - 0.2j * (end - begin)
        text = '\n'.join(names[:2]).replace('$', r'\$')    # else matplotlib takes it for TeX
        axes.text(middle.real, middle.imag, text, fontsize=7, ha='center',
                  va='center', zorder=4,
                  bbox={'facecolor': 'white', 'alpha': 0.8, 'linewidth': 0, 'pad': 0.4})


def _draw_states(axes: Any, plan: FloorPlan, scale: float, named: bool) -> None:
    known = set(plan.known)
    for state, place in plan.places.items():
        colour = COLOURS['home' if state == plan.home else
                         'known' if state in known else 'candidate']
        axes.scatter(*place, s=(24 * scale) ** 2, color=colour, zorder=3, linewidths=0)
        if named:
            text = str(state)
            axes.text(*place, text, color='white', ha='center', va='center_baseline', zorder=5,
                      fontsize=max(4.0, min(9.0, 26 * scale / max(2, len(text)))))


def _svg(figure: Any) -> str:
    """Return a figure as SVG that can stand within HTML; the same figure gives the same text."""
    from matplotlib import rc_context
    text = StringIO()
    with rc_context({'svg.fonttype': 'path', 'svg.hashsalt': _salt(), 'path.simplify': True}):
        figure.savefig(text, format='svg', metadata={'Date': None, 'Creator': None})
    whole = text.getvalue()
    return whole[whole.index('<svg'):]


_salts = iter(range(10**9))


def _salt() -> str:
    """Return another salt for each picture: ids must not be the same in one page."""
    return str(next(_salts))


def colours(actions: Iterable[str]) -> list[tuple[str, str]]:
    """Return the names of the actions with the colours of their arrows."""
    from matplotlib.colors import to_hex
    return [(name, to_hex(f'C{number % 10}')) for number, name in enumerate(actions)]
