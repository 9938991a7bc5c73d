//! The Informix SQLI protocol as a sans-IO core, both roles.
