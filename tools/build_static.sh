#!/bin/bash
# Builds `rowferry` linked statically, for any Linux of this machine's kind, with or without a C library: prints where it is.
# Needs what `tools/setup.sh build` installs, Debian's musl-tools and Rust's target: rustup target add x86_64-unknown-linux-musl
set -euo pipefail
cd "$(dirname "$0")/.."
target=$(uname -m)-unknown-linux-musl
libraries=$(rustc --print sysroot)/lib/rustlib/$target
if ! command -v musl-gcc >/dev/null || [[ ! -d $libraries ]]; then
    echo "build_static.sh: missing musl-gcc or Rust's $target" >&2
    echo "hint: apt install musl-tools && rustup target add $target" >&2
    exit 1
fi
export "CC_${target//-/_}=musl-gcc"
cargo build --release --locked --package rowferry-cli --target "$target" >&2
echo "${CARGO_TARGET_DIR:-target}/$target/release/rowferry"
