"""What `make test` leaves to `make test-packages`: it takes half an hour, and one target of Rust's more."""

import os

collect_ignore = [] if "ROWFERRY_TEST_PACKAGES" in os.environ else ["test_empty_debian.py", "test_static.py"]
