# SPDX-License-Identifier: Apache-2.0

"""What an exploration has learnt, for people and for other programs."""
