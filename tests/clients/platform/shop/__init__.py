"""A shop, as an application of Django."""
