//! The server's half, for tests, simulation and fuzzing.
