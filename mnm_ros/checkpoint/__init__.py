# SPDX-License-Identifier: Apache-2.0

"""An exploration on disk: resume points and all inputs since, in SQLite files."""
