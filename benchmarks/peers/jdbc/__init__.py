"""IBM's JDBC driver as a peer: a worker in Java that speaks the harness's protocol."""
