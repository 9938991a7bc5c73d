"""Informix as a database of Django's: `"ENGINE": "rowferry.django.informix"`."""
