# SPDX-License-Identifier: Apache-2.0

"""
One mutant for each promise: ``scripts/mutants --promises`` shows that a quick test notices it.

A mutant breaks an inequality of ``docs/explanation/guarantees.md``, a QoS profile, or something
that keeps what was learnt on the disk.
"""

from __future__ import annotations

from typing import NamedTuple


class Promise(NamedTuple):
    """
    A promise, and a change that breaks it.

    :ivar promise: in words.
    :ivar module: path of the module below ``mnm_ros``.
    :ivar code: what stands there once.
    :ivar mutant: what replaces it.
    :ivar tests: paths of test modules below ``test``, separated by spaces.
    """

    promise: str
    module: str
    code: str
    mutant: str
    tests: str


_SPENDING, _CERTIFICATE = 'core/statistics/delta_spending.py', 'core/statistics/certificate.py'
_EVALUATION, _EVIDENCE = 'core/statistics/evaluation.py', 'core/disco/evidence.py'
_CERTIFY = 'core/disco/certify.py'
_DETECTOR, _PAIRS = 'core/detection/detector.py', 'core/detection/transition_detector.py'
_POOLED = 'core/detection/pooled_detector.py'
_REDISCOVERY, _REACH = 'core/watch/rediscovery.py', 'core/statistics/reach.py'
_MONITOR, _PLAUSIBLE = 'core/watch/policy_monitor.py', 'core/planning/plausible.py'
_LOG, _GENERATIONS = 'checkpoint/input_log.py', 'checkpoint/generations.py'
_DATABASE = 'checkpoint/database.py'
_FILES, _PROFILES = 'files.py', 'messages/profiles.py'

_OF_SPENDING = 'core/test_promised_deltas.py core/test_delta_spending.py'
_OF_CERTIFICATE = 'core/test_certificate.py'
_OF_CERTIFY = 'core/test_disco_rules.py'
_OF_EVALUATION = 'core/test_evaluation.py core/test_promised_deltas.py'
_OF_DETECTOR = 'core/test_detector.py'
_OF_PAIRS = 'core/test_transition_detector.py core/test_promised_deltas.py'
_OF_POWER, _OF_QOS = 'checkpoint/test_power_cut.py', 'test_qos.py'

INEQUALITIES = (
    Promise('streams of the first round have 4/5 of delta', _SPENDING,
            'part = 4 / 5 if', 'part = 1 if', _OF_SPENDING),
    Promise('the first stream has 7/8 of its round', _SPENDING,
            '(7 / 8 if stream == 1', '(1 if stream == 1', _OF_SPENDING),
    Promise('stream i > 1 has 1/(8 i (i - 1)) of its round', _SPENDING,
            '1 / (8 * stream * (stream - 1))', '1 / (4 * stream * (stream - 1))', _OF_SPENDING),
    Promise('streams of round r > 1 have 3 delta / (40 r (r - 1))', _SPENDING,
            '3 / (40 * round_number', '3 / (20 * round_number', _OF_SPENDING),
    Promise('the checks of round r have 3 delta / (4 pi^2 r^2)', _SPENDING,
            'return 3 * delta / (4 *', 'return 3 * delta / (2 *', _OF_SPENDING),
    Promise('the kinds of decisions of a round share its delta', _SPENDING,
            "'reach': 1 / 12", "'reach': 1 / 6", _OF_SPENDING),
    Promise('the beginnings of the pooled detector share its delta', _POOLED,
            'self._delta * share(self._begun)', 'self._delta', 'core/test_pooled_detector.py'),
    Promise('all S(i) together are 1', _SPENDING,
            '- math.sqrt((1 + even) / (number + even + 1))', '', _OF_SPENDING),
    Promise('ruling out has 2/3 of a rediscovery, and certificates by the sets 1/6',
            'core/components.py', '(2 / 3, 1 / 2) if policies else (',
            '(2 / 3, 1) if policies else (', _OF_SPENDING),
    Promise('what is not ruled out has the rest of the delta of a run', 'core/components.py',
            'problem.delta * (1 - ruling_out), by_model', 'problem.delta, by_model',
            _OF_SPENDING),
    Promise('ruling out has its part of the delta of a run', 'core/components.py',
            'new_planner(problem.delta * ruling_out,', 'new_planner(problem.delta,',
            _OF_SPENDING),
    Promise('missing state i has S(i)', _PLAUSIBLE,
            'return cls(len(states) + 1, share(len(states), EVEN_PARTS))',
            'return cls(len(states) + 1, 1.0)',
            _OF_SPENDING),
    Promise('missing state i that was not given has 7/(8 i (i + 1))', _PLAUSIBLE,
            'part / (others * (others + 1))', 'part / others', _OF_SPENDING),
    Promise('the budget of ruling out is that of its part of delta', _PLAUSIBLE,
            '-math.log(rank.part * delta)', '-math.log(rank.part)',
            _OF_SPENDING),
    Promise('the i-th pair executed has S(i) of the certificates', _CERTIFICATE,
            '-math.log(share(self._begun, EVEN_PARTS) * self.delta)', '-math.log(self.delta)',
            _OF_CERTIFICATE),
    Promise('what is new costs a pair its code length', _CERTIFICATE,
            'if count else new)', 'if count else 1)', _OF_CERTIFICATE),
    Promise('mass that was never seen is as bad as can be', _CERTIFICATE,
            'top = np.full(len(self._closed), values.max())',
            'top = np.full(len(self._closed), values.min())',
            _OF_CERTIFICATE),
    Promise('a RESET that is published later is a step', _CERTIFICATE,
            'outside = max(1 + self._limit, 1 + values[0])', 'outside = 1 + self._limit',
            _OF_CERTIFICATE),
    Promise('the model certifies a policy only if its bound is within the limit', _CERTIFY,
            'if found.certificate.bound > self._problem.limit:',
            'if found.certificate.bound > 1 + self._problem.limit:', _OF_CERTIFY),
    Promise('a policy replaces another one only if its bound is within the limit', _CERTIFY,
            'if found is None or found.certificate.bound > self._problem.limit:',
            'if found is None or found.certificate.bound > 1 + self._problem.limit:', _OF_CERTIFY),
    Promise('a policy is certified at 1 / delta', _EVALUATION,
            'if self.lacking <= 0:', 'if self.lacking <= 1:', _OF_EVALUATION),
    Promise('a policy is rejected at 1 / delta', _EVALUATION,
            'log_mean_exp(self._reject_log) >= self._threshold',
            'log_mean_exp(self._reject_log) >= self._threshold - 1', _OF_EVALUATION),
    Promise('a failure counts 1 + m steps more', _EVALUATION,
            'gain = self._accept - (length + failed * (1 + self._accept))',
            'gain = self._accept - (length + failed * self._accept)', _OF_EVALUATION),
    Promise('an attempt that was broken off counts as the worst for a policy', _EVALUATION,
            'self._bet_for(horizon, True)', 'self._bet_for(length, False)',
            _OF_EVALUATION),
    Promise('the test in place i has 1/(i (i + 1))', _EVIDENCE,
            'place * (place + 1) / (2 * (1 - self._first))', 'place / (2 * (1 - self._first))',
            'core/test_evidence.py core/test_policy_tests.py'),
    Promise('of drives the first test has three quarters, and the others the rest', _EVIDENCE,
            '_FIRST, _FIRST_OF_DRIVES = 0.5, 0.75', '_FIRST, _FIRST_OF_DRIVES = 0.5, 1.5',
            'core/test_evidence.py'),
    Promise('attempts have a quarter of the delta of a declared test', _EVIDENCE,
            '(math.log(self._by_attempts) if declared', '(0.0 if declared',
            'core/test_evidence.py core/test_joint.py'),
    Promise('the pairs of a declared test have the other three', _EVIDENCE,
            'self.evidence[1] - self._fewer', 'self.evidence[1] - 2 - self._fewer',
            'core/test_evidence.py core/test_joint.py'),
    Promise('a pair with a floor adds its excess to the budget as far as it may be below',
            'core/statistics/joint.py',
            'math.fsum(each.excess for each in counted.values()) - math.fsum(', '0.0 * math.fsum(',
            'core/test_joint.py'),
    Promise('a pair may be as bad as its floor for nothing', 'core/statistics/joint_rows.py',
            'np.where(first, self.floors, 0.0)), least)', '1.0), least)', 'core/test_joint.py'),
    Promise('a policy is within (1 + epsilon) L', 'core/model/problem.py',
            'return (1 + self.epsilon) * self.radius', 'return (2 + self.epsilon) * self.radius',
            'core/test_model.py core/test_evaluation.py'),
    Promise('a policy is deleted at 1 / delta', _DETECTOR,
            'return self.evidence >= self.threshold', 'return self.evidence >= self.threshold - 1',
            _OF_DETECTOR),
    Promise('a policy is deleted no later than at 1 / delta', _DETECTOR,
            'return self.evidence >= self.threshold', 'return self.evidence >= self.threshold + 1',
            _OF_DETECTOR),
    Promise('a policy is proven at 1 / delta', _DETECTOR,
            'self._shown >= self._proof', 'self._shown >= self._proof - 1', _OF_DETECTOR),
    Promise('the bets against a policy weigh no more than 1', _DETECTOR,
            'math.log(weight / 2)', 'math.log(weight)', _OF_DETECTOR),
    Promise('detector i of a policy has its share of the deletions', _MONITOR,
            'self._deletion * share(self._made)', 'self._deletion', 'core/test_policy_monitor.py'),
    Promise('proof i has its share', _MONITOR,
            'detector.begin_proof(self._proofs * share(self._begun))',
            'detector.begin_proof(self._proofs)', 'core/test_policy_monitor.py'),
    Promise('a pair has changed at 1 / delta', _PAIRS,
            'self.alarm = self.evidence >= self.threshold',
            'self.alarm = self.evidence >= self.threshold - 1',
            _OF_PAIRS),
    Promise('a pair has changed no later than at 1 / delta', _PAIRS,
            'self.alarm = self.evidence >= self.threshold',
            'self.alarm = self.evidence >= self.threshold + 1',
            _OF_PAIRS),
    Promise('detector i of a pair has S(i)', 'core/detection/transition_monitor.py',
            'self._delta * share(self._made, EVEN_PARTS)', 'self._delta', _OF_PAIRS),
    Promise('rediscovery i has its share of the additions', _REDISCOVERY,
            'delta=self._delta / 2 * share(self.number)', 'delta=self._delta / 2',
            'core/test_watch_phase.py core/test_mnm.py'),
    Promise('renewal k has 1/(2 k (k + 1)) of the additions', _REDISCOVERY,
            'self._delta / (2 * self.renewals * (self.renewals + 1))',
            'self._delta / (2 * self.renewals)', 'core/test_watch_changes.py'),
    Promise('a round is refuted after k in a row with d^k <= d / (j (j + 1))', _REDISCOVERY,
            'return self.in_a_row > more', 'return self.in_a_row >= more',
            'core/test_step_limit.py'),
    Promise('moment i of reach has 1/(i (i + 1))', _REACH,
            'self._delta / (self.begun * (self.begun + 1))', 'self._delta',
            'core/test_reach.py'),
    Promise('audits execute one step in 1 / share', 'core/mnm/audit.py',
            'int(steps * share) > int((steps - 1) * share)', 'int(steps * share) < 0',
            'core/test_audit.py'),
)
"""Of ``docs/explanation/guarantees.md``: the table of the delta, and tests of the promise."""

PROFILES = (
    Promise('LATCHED: a late subscriber gets the value', _PROFILES,
            'LATCHED = _reliable(1, _LATCHED)', 'LATCHED = _reliable(1, _VOLATILE)', _OF_QOS),
    Promise('LATCHED_BY_MANY: that of each publisher', _PROFILES,
            'LATCHED_BY_MANY = _reliable(10, _LATCHED)', 'LATCHED_BY_MANY = LATCHED', _OF_QOS),
    Promise('EVENTS: the last 50', _PROFILES,
            'EVENTS = _reliable(50, _LATCHED)', 'EVENTS = LATCHED', _OF_QOS),
    Promise('STEP: a late subscriber gets no old step', _PROFILES,
            'STEP = _reliable(10, _VOLATILE)', 'STEP = _reliable(10, _LATCHED)', _OF_QOS),
    Promise('TRANSFORMS: a burst is heard', _PROFILES,
            'TRANSFORMS = _reliable(100, _VOLATILE)', 'TRANSFORMS = STEP', _OF_QOS),
    Promise('STATIC_TRANSFORMS: all that is latched', _PROFILES,
            'STATIC_TRANSFORMS = _reliable(100, _LATCHED)', 'STATIC_TRANSFORMS = LATCHED',
            _OF_QOS),
    Promise('HEARTBEAT: a node that hangs is noticed', _PROFILES,
            'LivelinessPolicy.MANUAL_BY_TOPIC', 'LivelinessPolicy.AUTOMATIC', _OF_QOS),
    Promise('HEARTBEATS: no heart hides another one', _PROFILES,
            'HEARTBEATS = _reliable(10, _VOLATILE)', 'HEARTBEATS = _reliable(1, _VOLATILE)',
            _OF_QOS),
    Promise('REQUESTS: no flood hides a stop', _PROFILES,
            'REQUESTS = _reliable(1000, _VOLATILE)', 'REQUESTS = _reliable(1, _VOLATILE)',
            _OF_QOS),
)
"""One for each QoS profile of ``messages/profiles.py``."""

DURABILITY = (
    Promise('an input that was written is on the disk', _DATABASE,
            "'PRAGMA synchronous = FULL'", "'PRAGMA synchronous = OFF'", _OF_POWER),
    Promise('a generation is flushed before it gets its name', _LOG,
            'os.fsync(file.fileno())', 'pass', _OF_POWER),
    Promise('the name of a generation is flushed', _LOG,
            'flush_folder(path.parent)', 'pass', _OF_POWER),
    Promise('a file that is written whole is flushed before it gets its name', _FILES,
            'os.fsync(file.fileno())', 'pass', _OF_POWER),
    Promise('the name of a file that is written whole is flushed', _FILES,
            'flush_folder(path.parent)', 'pass', _OF_POWER),
    Promise('the old file stays until the new one is whole', _FILES,
            'draft.replace(path)', 'path.unlink(missing_ok=True); draft.replace(path)',
            'test_outside_files.py checkpoint/test_power_cut.py'),
    Promise('the generation before is kept', _GENERATIONS,
            'before[:-(_GENERATIONS_KEPT - 1)]', 'before', 'checkpoint'),
    Promise('a file that is refused is kept', _DATABASE,
            'return rename(path, next(', 'remove(path); return (path, next(',
            'checkpoint/test_store.py checkpoint/test_damaged_files.py'),
    Promise('a damaged input is refused', _LOG,
            'number != self.number + 1 or chain != self.chain', 'number != self.number + 1',
            'checkpoint/test_damaged_files.py'),
    Promise('a resume point that was changed is refused', _LOG,
            "if meta['sha256'] != _digest(text):", 'if False:',
            'checkpoint/test_damaged_files.py'),
    Promise('files for other parameters are refused', _LOG,
            'if self.identity.get(name) != wanted.get(name):', 'if False:', 'checkpoint'),
    Promise('a replay that acts otherwise is refused', _LOG,
            'if played is not None and exploration.next_action() != played:', 'if False:',
            'checkpoint'),
    Promise('what is lost is reported', 'checkpoint/folder_lock.py',
            'and int(found[1]) > number:', 'and False:', 'checkpoint'),
    Promise('what the disk did not take is written later', 'checkpoint/store.py',
            'self._pending = pending + self._pending', 'pass', 'checkpoint/test_full_disk.py'),
    Promise('no number is given twice, whatever the clock does', 'protocol/exchange.py',
            'max(time.time_ns(), self._bound)', 'time.time_ns()', 'protocol'),
    Promise('the bound of the numbers is kept before a number is used',
            'protocol/exchange.py', 'self._keep(self._bound)', 'pass', 'protocol'),
)
"""What ``docs/reference/files_on_disk.md`` promises."""

PROMISES = (*INEQUALITIES, *PROFILES, *DURABILITY)
