//! The MySQL and MariaDB protocol as a sans-IO core.
