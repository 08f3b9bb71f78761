# SPDX-License-Identifier: Apache-2.0

"""Bags: what was said on the topics of an exploration, in files that other tools open, too."""
