# SPDX-License-Identifier: Apache-2.0

"""The pictures of a report, as SVG in the page itself: the map in the shapes of the dashboard."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from html import escape
from io import StringIO
import math

from mnm_ros.core.model.policy import Policy
from mnm_ros.core.model.problem import RESET
from mnm_ros.robot_description import RobotDescription
from mnm_ros.trial.replay import ReplaySummary
from mnm_ros.view import scene
from mnm_ros.view.telemetry import Telemetry
from mnm_ros.view.web.layers import arrow, Disc, draw, Places

_TARGET, _FAINT = '#c0392b', '#c8c8c8'
_ACTIONS = ('#1f77b4', '#ff7f0e', '#2ca02c', '#d62728', '#9467bd', '#8c564b', '#e377c2', '#7f7f7f',
            '#bcbd22', '#17becf')
_FEW = 14         # states up to which arrows have the names of their actions
_SELDOM = 0.05    # an outcome that is rarer is not drawn where there are many
_ROUNDS = 30      # of a layout
_IN_A_CIRCLE = 60    # states, at most: of more, neighbours can be seen better in a layout
_DISC = 0.3       # radius of a state in a circle
_ASIDE = 0.07     # of an arrow, beside the line between two states
_SMALL = 0.6      # times the usual radius, so that there is room for names between few states
_MARGIN = 0.6      # around the states, for their discs and the names of arrows
_INCH = 96        # pixels


class MapFigure:
    """
    Where the states are drawn, and what leads from one to another.

    :ivar kinds: the kinds of states that are drawn.
    :ivar few: whether there are so few states that actions are named in the picture.
    :ivar placed: whether the states are where the robot side has said that they are.
    :ivar circle: whether they are in a circle, as there are few and nothing is said of that.
    """

    def __init__(self, summary: ReplaySummary, description: RobotDescription) -> None:
        found, known = summary.exploration, summary.knowledge
        self._heard = heard = Telemetry(
            known=known.known, counts=known.counts, activity=found.activity(),
            description=description, trust=known.trust)
        self._summary = summary
        places = Places(clock=lambda: 0.0)
        for _ in range(_ROUNDS):
            places.update(heard, scene.kinds(heard))
        self._layers, self.placed = draw(heard, places), places.placed
        shown = {int(state): kind for state, _, _, _, kind, _, _ in self._layers['states']}
        self._kinds = shown
        self.few = sum(kind != 'unmet' for kind in shown.values()) <= _FEW
        self.circle = not self.placed and len(places.latest) <= _IN_A_CIRCLE
        where = self._in_a_circle(places.latest) if self.circle else places.latest
        self._where = {state: place._replace(radius=place.radius * (_SMALL if self.few else 1.0))
                       for state, place in where.items()}
        self.kinds = [kind for kind in scene.KINDS if kind in self._kinds.values()]
        self._box = self._layers['box'] if self._layers['walls'] else self._around_states()

    def _in_a_circle(self, places: Mapping[int, Disc]) -> dict[int, Disc]:
        """Return places in a circle: home at the top, then each state beside where it leads."""
        waiting = list(places)[::-1]
        if (home := self._heard.home) is not None:
            waiting.append(home)
        seen: dict[int, None] = {}
        while waiting:
            state = waiting.pop()
            if state not in seen and state in places:
                seen[state] = None
                waiting += [after for after, _ in sorted(
                    scene.links(self._summary.knowledge, state).items(),
                    key=lambda link: link[1][0])]
        turn, size = math.tau / max(1, len(seen)), max(1.0, len(seen) / math.tau)
        return {state: Disc(size * math.sin(number * turn), -size * math.cos(number * turn), _DISC)
                for number, state in enumerate(seen)}

    def _around_states(self) -> Sequence[float]:
        """Return the part of the map that has states: left, top, width and height."""
        xs, ys = zip(*((place.x, place.y) for place in self._where.values())) if self._where else (
            (0.0,), (0.0,))
        left, top = min(xs) - _MARGIN, min(ys) - _MARGIN
        return left, top, max(xs) + _MARGIN - left, max(ys) + _MARGIN - top

    def draw(self) -> str:
        """Return the picture of all states, with an arrow to each that follows another."""
        if not self._kinds:
            return ''
        wide, high = self._box[2:]
        least = 0.0 if self.few else _SELDOM
        known = self._summary.knowledge
        links = {(state, after): link for state in known.counts
                 for after, link in scene.links(known, state).items() if link[0] >= least}
        arrows = [self._arrow(state, action, after, share, 0.4)
                  for (state, after), (share, action) in links.items()
                  if {state, after} <= self._where.keys()]
        return self._svg(
            min(1.5 if self.few else 0.95, 9.4 / wide, 9.0 / high),
            [*arrows, *self._states({}), *(self._names(links) if self.few else ())])

    def draw_policy(self, policy: Policy) -> str:
        """Return the picture of the way to one state, as far as the policy leads from home."""
        wide, high = self._box[2:]
        arrows = [self._arrow(state, action, after, count / sum(seen.values()), 1.0)
                  for (state, action), seen in self._summary.knowledge.on_the_way(policy).items()
                  for after, count in seen.items()
                  if after != state and {state, after} <= self._where.keys()]
        home = {} if self._heard.home is None else {
            self._heard.home: scene.KINDS['home'].colour}
        return self._svg(min(0.62, 3.3 / wide, 3.3 / high), [
            *arrows, *self._states({**home, policy.target: _TARGET}, _FAINT)])

    def _svg(self, inches: float, parts: Sequence[str]) -> str:
        left, top, width, height = self._box
        scale = _INCH * inches
        return (f'<svg viewBox="{left} {top} {width} {height}" width="{scale * width:.0f}" '
                f'height="{scale * height:.0f}"><path d="{self._layers["walls"]}" '
                f'stroke="{scene.KINDS["wall"].colour}" stroke-width="0.03" '
                f'stroke-linecap="square"/>{"".join(parts)}</svg>')

    def _arrow(self, state: int, action: int, after: int, share: float, bold: float) -> str:
        said = self._heard.description
        return (f'<path d="{arrow(self._where[state], self._where[after], _ASIDE)}" fill="none" '
                f'stroke="{_ACTIONS[action % len(_ACTIONS)]}" opacity="{0.35 + 0.65 * share:.2f}" '
                f'stroke-width="{0.01 + 0.04 * bold * share:.3f}"><title>'
                f'{escape(said.action_name(action))} {share:.0%}</title></path>')

    def _states(self, colours: dict[int, str], others: str = '') -> Iterator[str]:
        """Yield the states, in ``colours`` or else in the colours of their kinds, with labels."""
        for text, _, _, _, kind, short, label in self._layers['states']:
            x, y, radius = self._where[state := int(text)]
            colour = colours.get(state, others) or scene.KINDS[self._kinds[state]].colour
            drawn = radius / 3 if kind == 'unmet' else radius
            yield (f'<circle cx="{x:.2f}" cy="{y:.2f}" r="{drawn:.2f}" '
                   f'fill="{colour}"><title>{escape(label)}</title></circle>')
            if kind != 'unmet' and not others:
                size = min(0.8 * radius, 2.7 * radius / max(1, len(short)))
                yield (f'<text x="{x:.2f}" y="{y + 0.35 * size:.2f}" font-size="{size:.2f}" '
                       f'fill="white" text-anchor="middle">{escape(short)}</text>')
                if self._kinds[state] in scene.TRUSTED:
                    yield (f'<text x="{x + 0.7 * radius:.2f}" y="{y - 0.5 * radius:.2f}" '
                           f'font-size="{radius:.2f}">{scene.KINDS[self._kinds[state]].mark}'
                           '</text>')

    def _names(self, links: dict[tuple[int, int], tuple[float, int]]) -> Iterator[str]:
        """Yield the likely actions beside each arrow, together where several lead there."""
        for state, after in (link for link in links if {*link} <= self._where.keys()):
            likely = sorted((-seen[after] / sum(seen.values()), action)
                            for action, seen in self._heard.counts[state].items()
                            if after in seen and action != RESET)
            begin, end = (complex(*self._where[one][:2]) for one in (state, after))
            middle = (begin + end) / 2 - 0.23j * (end - begin) / (abs(end - begin) or 1.0)
            for line, (share, action) in enumerate(likely[:2]):
                name = f'{self._heard.description.action_name(action)} {-share:.2g}'
                yield (f'<text x="{middle.real:.2f}" y="{middle.imag + 0.1 * line:.2f}" '
                       'font-size="0.085" text-anchor="middle" stroke="white" '
                       f'stroke-width="0.04" paint-order="stroke">{escape(name)}</text>')


def draw_time(summary: ReplaySummary) -> str:
    """Return known states and candidates over the steps, with the changes that were noticed."""
    from matplotlib import rc_context
    from matplotlib.figure import Figure
    from matplotlib.ticker import MaxNLocator
    end = max(1, summary.exploration.steps)
    figure = Figure(figsize=(9.4, 2.9), layout='constrained')
    axes = figure.subplots()
    for values, name, kind in ((summary.known, 'known', 'known'),
                               (summary.candidates, 'candidates', 'candidate')):
        steps, counts = zip(*(values or [(0, 0)]), (end, values[-1][1] if values else 0))
        axes.step(steps, counts, where='post', label=name, color=scene.KINDS[kind].colour)
    axes.set_ylabel('states')
    axes.set_ylim(bottom=0)
    for number, step in enumerate(summary.noticed_at):
        axes.axvline(step, linestyle='--', color='black', linewidth=0.9,
                     label='change noticed' if number == 0 else None)
    axes.set_xlim(0, end)
    axes.yaxis.set_major_locator(MaxNLocator(integer=True, nbins=6))
    axes.spines[['top', 'right']].set_visible(False)
    axes.legend(loc='upper center', bbox_to_anchor=(0.5, 1.2), ncol=4, frameon=False, fontsize=9)
    axes.set_xlabel('steps')
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_formatter(lambda value, _: f'{value:,.0f}')
    text = StringIO()
    with rc_context({'svg.fonttype': 'path', 'svg.hashsalt': '', 'path.simplify': True}):
        figure.savefig(text, format='svg', transparent=True,
                       metadata={'Date': None, 'Creator': None})
    return text.getvalue()[text.getvalue().index('<svg'):]


def colours(actions: Sequence[str]) -> list[tuple[str, str]]:
    """Return the names of the actions with the colours of their arrows."""
    return [(name, _ACTIONS[number % len(_ACTIONS)]) for number, name in enumerate(actions)]
