"""Rows across the wire, at both ends."""
