"""Django's database backends over the drivers; `rowferry.django.informix` is an `ENGINE`."""
