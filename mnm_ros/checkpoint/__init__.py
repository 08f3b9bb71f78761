# SPDX-License-Identifier: Apache-2.0

"""
An exploration on disk: resume points and all inputs since, in SQLite files.

Read ``store``, which hands out the class that the explorer uses, then ``input_log`` (one file, of
the tables in ``database``), ``generations`` (which files there are, and what is done about damaged
ones, under a ``folder_lock``) and ``warm_start``.
"""
