"""Django's own suite on the PostgreSQL door."""
