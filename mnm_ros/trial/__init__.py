# SPDX-License-Identifier: Apache-2.0

"""
The programs around a trial on a robot: a prediction before it and a report after it.

Read ``probe`` (the check before) with ``rehearsal`` (a prediction by simulation), and ``report``
over ``replay`` (what happened), ``facts`` (in figures and words) and ``pictures``. ``scenes`` is
what the page shows of a log.
"""
