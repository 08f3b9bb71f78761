# SPDX-License-Identifier: Apache-2.0

"""Several robots explore one world: who is sent where, and what becomes of it."""
