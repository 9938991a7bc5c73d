"""Real servers for tests, the demo and the benchmarks: each on a free loopback port, in its own directory, stopped by PID."""
