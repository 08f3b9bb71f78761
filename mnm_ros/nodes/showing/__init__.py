# SPDX-License-Identifier: Apache-2.0

"""The parts of the node ``dashboard``: what it hears, what it may do, and its page."""
