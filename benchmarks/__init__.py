"""Benchmarks: the same work through every driver and server, interleaved. Start with `python -m benchmarks`."""
