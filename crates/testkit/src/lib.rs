//! Simulator, vectors and fault proxy for the tests; never published.
