"""What only the preset ``paper`` uses: the formulas as printed."""
