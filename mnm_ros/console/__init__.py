# SPDX-License-Identifier: Apache-2.0

"""Watch the exploration of a simulated CMP or robot live in a terminal (`scripts/explore`)."""
