# SPDX-License-Identifier: Apache-2.0

"""Which version this is."""

__version__ = '0.1.0'
