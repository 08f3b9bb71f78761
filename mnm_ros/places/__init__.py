# SPDX-License-Identifier: Apache-2.0

"""Route graphs that people already have, read as places and the ways between them."""
