# SPDX-License-Identifier: Apache-2.0

"""
Learn to write a detector, which deletes a policy that does not work any more.

Run ``python3 examples/own_detector.py``, without ROS. The detector bets against a policy only
after an attempt has failed. So a long good past costs nothing, and the promise holds as before.
"""

from itertools import count
import math
from pathlib import Path
import sys

sys.path.append(str(Path(__file__).resolve().parents[1]))    # a clone that is not installed

from mnm_ros import explore, load_scenario, Simulator  # noqa: E402
from mnm_ros.core import Detector  # noqa: E402

STAKE = 0.95


class AfterFailure(Detector):
    """
    Average the capital of ``Detector`` with that of one more bet, made after each failure.

    ``X - limit`` is at most 0 in the mean while a policy keeps the limit, and at least ``-limit``.
    So no bet wins in the mean, whatever the past makes one bet. An average of such capitals ever
    reaches ``1 / delta`` with probability at most ``delta`` (Ville).
    """

    def __init__(self, limit, horizon, delta):
        super().__init__(limit, horizon, delta)
        self._most, self._log_capital, self._failed = limit, 0.0, False

    def record(self, length, failed):
        super().record(length, failed)
        self._bet_once_more(length + failed * (1 + self._most) - self._most, failed)

    def break_off(self, length):
        super().break_off(length)
        self._bet_once_more(length - self._most, False)

    def _bet_once_more(self, excess, failed):
        if self._failed:
            self._log_capital += math.log1p(STAKE * excess / self._most)
        self._failed = failed
        high, low = sorted((self.evidence, self._log_capital), reverse=True)
        self.evidence = high + math.log1p(math.exp(low - high)) - math.log(2)

    def to_state(self):
        return {**super().to_state(), 'after_failure': [self._log_capital, self._failed]}

    @classmethod
    def from_state(cls, limit, horizon, state):
        detector = super().from_state(limit, horizon, state)
        detector._log_capital, detector._failed = state['after_failure']
        return detector


def failures_until_alarm(detector):
    """Return how many failures in a row raise the alarm after 1,000 attempts of 3 steps."""
    for _ in range(1_000):
        detector.record(3, failed=False)
    for failures in count():
        if detector.alarm:
            return failures
        detector.record(12, failed=True)


def main():
    for kind in (AfterFailure, Detector):
        failures = failures_until_alarm(kind(limit=8.0, horizon=12, delta=1e-4))
        print(f'{kind.__name__}: {failures} failures raise the alarm')
    world = load_scenario('corridor')
    result = explore(Simulator(world, seed=1).step, 600, actions=world.actions, radius=2.0,
                     overrides={'detector': 'own_detector:AfterFailure'})
    print(f'{len(result.known)} states are known, each watched by the detector of this file')


if __name__ == '__main__':
    main()
