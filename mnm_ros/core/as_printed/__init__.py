# SPDX-License-Identifier: Apache-2.0

"""What only the preset ``paper`` uses: the formulas as printed."""
