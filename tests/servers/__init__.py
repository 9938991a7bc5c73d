"""Real servers for tests, the demo and the benchmarks: free loopback ports, own directories, stopped by PID."""
