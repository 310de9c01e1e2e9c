"""Computations on the recorded tables of runs: rates, step functions, round-trip times, statistics.

Tables are Polars data frames with times in seconds. Figures, pages and commands use these functions.
"""
