"""Comparisons of `umts emulate` with closed forms, simulations and bare timers."""
