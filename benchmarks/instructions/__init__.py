"""Instructions of the hottest paths, counted by valgrind's callgrind: the same count twice, however busy the machine.

    python -m benchmarks.instructions                    count, and compare with baseline.json
    python -m benchmarks.instructions --path pg_point_prepared --path mysql_rows
    python -m benchmarks.instructions --write            accept what was counted
    python -m benchmarks.instructions --profile DIRECTORY    keep callgrind's files, for callgrind_annotate

Counted is one process, the server or the client, from the first instruction after its caches are warm; the other
end runs free. Clocks, waiting and the kernel do not count: this guards what our own code does, no more.
"""
