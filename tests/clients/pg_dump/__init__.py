"""Dumps by PostgreSQL's own pg_dump: of our databases, of PostgreSQL's, from either into either."""
