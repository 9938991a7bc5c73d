"""Statements made at random, answered by MySQL 9.7 and ours: `python -m tests.differential.mysql.run --seed N`."""
