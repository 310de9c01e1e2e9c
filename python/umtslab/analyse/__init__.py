"""Computations on tables of runs."""
