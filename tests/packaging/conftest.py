"""What `make test` leaves to `make test-packages` and `make test-arm`: half an hour each, and Rust's targets."""

import os

collect_ignore = [] if "ROWFERRY_TEST_PACKAGES" in os.environ else ["test_empty_debian.py", "test_static.py"]
if "ROWFERRY_ARM" not in os.environ:
    collect_ignore.append("test_arm.py")
