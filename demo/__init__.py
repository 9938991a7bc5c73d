"""The demo: a SQLite file served to clients of other databases. Start with `make demo`."""
