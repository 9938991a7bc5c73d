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
# libclang alone, without Clang, knows no headers for another C library than its own.
export "BINDGEN_EXTRA_CLANG_ARGS_${target//-/_}=-isystem /usr/include/$(uname -m)-linux-musl"
# Where the program lies is not known before it runs, and so each address in it is put right then: told in groups, they take a
# fiftieth of the space. musl understands that from 1.2.4 on, which Rust brings along.
flags=CARGO_TARGET_$(tr '[:lower:]-' '[:upper:]_' <<<"$target")_RUSTFLAGS
export "$flags=${!flags:-} -Clink-arg=-Wl,-z,pack-relative-relocs"
cargo build --profile dist --locked --package rowferry-cli --target "$target" >&2
echo "${CARGO_TARGET_DIR:-target}/$target/dist/rowferry"
