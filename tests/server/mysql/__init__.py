"""The MySQL door."""
