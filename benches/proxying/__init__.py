"""Measurements of `benches/proxy.py`."""
