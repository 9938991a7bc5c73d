#!/bin/bash
# Build what users get, in the release profile: the `rowferry` binary and the extension module, installed into .venv.
# Does nothing when no source is newer than the last build.
set -euo pipefail
cd "$(dirname "$0")/.."

stamp=.cache/stamps/build
binary=${CARGO_TARGET_DIR:-target}/release/rowferry

is_fresh() {
    [[ -e $stamp && -x $binary ]] || return 1
    .venv/bin/python -c 'import rowferry._core' 2>/dev/null || return 1
    [[ -z $(find crates Cargo.toml Cargo.lock pyproject.toml -newer "$stamp" -type f -print -quit) ]]
}

if is_fresh; then
    exit 0
fi
mkdir -p "$(dirname "$stamp")"
touch "$stamp.begun"
# The binary with the features of both, so that every dependency is compiled once. The module is maturin's alone to build:
# it tells PyO3 more of the Python than we would, and what we had linked would be linked anew.
echo "== building the rowferry binary and the extension module" >&2
cargo build --release --locked --package rowferry-cli --package rowferry-python --bin rowferry
VIRTUAL_ENV=$PWD/.venv .venv/bin/maturin develop --quiet --release --locked
# Sources that changed while we were building are newer than the stamp and will be built again.
mv "$stamp.begun" "$stamp"
