//! SQLite behind a session: plans, transactions, types, functions, catalogs.
