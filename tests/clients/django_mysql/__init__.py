"""Django's own suite on the MySQL door."""
