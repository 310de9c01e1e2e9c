"""What `benches/proxy.py` measures."""
