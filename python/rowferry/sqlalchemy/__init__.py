"""SQLAlchemy 2 dialects over the drivers; found by SQLAlchemy itself through the package's entry points.

    create_engine("mysql+rowferry://user:password@host/database")
    create_async_engine("mysql+rowferry_async://user:password@host/database")

`mariadb+rowferry` and `mariadb+rowferry_async` insist on a MariaDB server, as SQLAlchemy's own MariaDB dialects do.
"""
