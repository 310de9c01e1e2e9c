"""Checks of `umts emulate` against closed forms, simulator and machine: `python benches/emulate.py`."""
