# SPDX-License-Identifier: Apache-2.0

"""What has become of known states and candidates over time, and when the world has changed."""

from __future__ import annotations

from typing import Any, NamedTuple

from mnm_ros.view.heard import Heard

MOST = 400    # points that are kept; of more, every second one is forgotten
_AXIS = {'axisLabel': {'color': '#888888', 'hideOverlap': True},
         'splitLine': {'lineStyle': {'color': '#88888833'}}}


class _Point(NamedTuple):
    steps: int
    known: int
    candidates: int
    exploration: int | None


class Timeline:
    """
    Keeps a point for each report of the explorer.

    :ivar noticed: steps by which a change had been noticed.
    :ivar true: steps by which the world had changed, where a simulator tells.
    """

    def __init__(self) -> None:
        self.noticed: list[int] = []
        self.true: list[int] = []
        self._points: list[_Point] = []
        self._reports = 0
        self._before: tuple[int | None, int | None] = (None, None)

    def update(self, heard: Heard) -> bool:
        """Take in what is known now; return whether that is something new."""
        steps = heard.count('steps')
        if steps is None or heard.reports == self._reports:
            return False
        self._reports = heard.reports
        if self._points and steps < self._points[-1].steps:    # an explorer that begins anew
            self.__init__()    # type: ignore[misc]
            self._reports = heard.reports
        noticed, setting = self._before
        self._before = heard.count('changes_noticed'), heard.true_setting
        for before, now, steps_of in (
                (noticed, self._before[0], self.noticed), (setting, self._before[1], self.true)):
            if None not in (before, now) and before != now:
                steps_of.append(steps)
        point = _Point(steps, len(heard.known), heard.count('candidates') or 0,
                       heard.exploration_steps)
        if self._points[-1:] == [point]:
            return False
        self._points.append(point)
        if len(self._points) > MOST:
            self._points = [*self._points[:-1:2], self._points[-1]]
        return True

    def options(self) -> dict[str, Any]:
        """Return the chart, as ECharts wants it."""
        explored = [[point.steps, point.exploration] for point in self._points
                    if point.exploration is not None]
        series = [
            _line('known', '#2a9d6f', [[point.steps, point.known] for point in self._points]),
            _line('candidates', '#e0a100',
                  [[point.steps, point.candidates] for point in self._points]),
            {**_line('exploration', '#8a6fd1', explored), 'yAxisIndex': 1, 'step': False},
            _marks('change noticed', '#d2453d', 'solid', self.noticed),
            _marks('true change', '#888888', 'dashed', self.true)]
        names = [entry['name'] for entry in series
                 if entry['data'] or entry.get('markLine', {}).get('data')]
        first = self._points[0].steps if self._points else 0
        return {
            'animation': False,
            'textStyle': {'fontFamily': 'inherit'},
            'legend': {'data': names, 'top': 0, 'left': 0, 'icon': 'roundRect', 'itemWidth': 16,
                       'itemHeight': 4, 'itemGap': 14,
                       'textStyle': {'color': '#888888'}},
            'grid': {'left': 38, 'right': 58, 'top': 52, 'bottom': 26},
            'tooltip': {'trigger': 'axis', 'confine': True},
            'xAxis': {'type': 'value', 'min': first, 'max': 'dataMax', 'splitNumber': 4,
                      'axisLabel': {'color': '#888888', 'hideOverlap': True,
                                    'showMinLabel': False, 'showMaxLabel': False},
                      'splitLine': {'show': False}},
            'yAxis': [
                {'type': 'value', 'minInterval': 1, **_AXIS},
                {'type': 'value', 'splitNumber': 3, **_AXIS, 'splitLine': {'show': False},
                 'show': bool(explored)}],
            'series': series}


def _line(name: str, colour: str, points: list[Any]) -> dict[str, Any]:
    return {'name': name, 'type': 'line', 'step': 'end', 'showSymbol': False, 'data': points,
            'color': colour, 'lineStyle': {'width': 2}}


def _marks(name: str, colour: str, kind: str, steps: list[int]) -> dict[str, Any]:
    """Return vertical lines; the name stands in the legend if there are any."""
    return {'name': name, 'type': 'line', 'data': [], 'color': colour,
            'lineStyle': {'type': kind, 'width': 2},
            'markLine': {
                'silent': True, 'symbol': 'none', 'label': {'show': False},
                'lineStyle': {'color': colour, 'type': kind, 'width': 2},
                'data': [{'xAxis': step} for step in steps]}}
