"""A small Django project: one application, its settings, and tests that Django's own runner runs.

`python -m tests.clients.mysql_frameworks.django_shop '{"HOST": …}' test` is its `manage.py`.
"""
