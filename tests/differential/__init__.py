"""Statements made at random, answered by PostgreSQL 15 and by us: `python -m tests.differential.run --seed N`."""
