"""Informix's clients in front of a Citus cluster."""
