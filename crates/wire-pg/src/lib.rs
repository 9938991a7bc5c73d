//! The PostgreSQL frontend/backend protocol as a sans-IO core.
