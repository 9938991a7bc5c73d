#!/bin/bash
# Compiles the command line, the extension module and tests in Rust for 64-bit ARM, and runs them here, under QEMU: tools/test_arm.sh
# [ARGUMENTS OF PYTEST]. Needs what `tools/setup.sh arm` installs; the clients that talk to the emulated server are this machine's own.
set -euo pipefail
cd "$(dirname "$0")/.."
target=aarch64-unknown-linux-gnu
for program in aarch64-linux-gnu-gcc aarch64-linux-gnu-g++ qemu-aarch64 debootstrap; do
    if ! command -v "$program" >/dev/null; then
        echo "test_arm.sh: missing $program" >&2
        echo "hint: tools/setup.sh arm" >&2
        exit 1
    fi
done
if [[ ! -d $(rustc --print sysroot)/lib/rustlib/$target ]]; then
    echo "test_arm.sh: missing Rust's $target" >&2
    echo "hint: rustup target add $target" >&2
    exit 1
fi

# A Debian of that kind, whose programs are unpacked and not installed: its C library, and a Python.
arm=$PWD/.cache/arm
root=$arm/root
mkdir -p "$arm"
if [[ ! -d $root ]]; then
    rm -rf "$root.new"
    debootstrap --arch=arm64 --foreign --variant=minbase --include=python3 bookworm "$root.new" >&2
    for package in "$root.new"/var/cache/apt/archives/*.deb; do dpkg-deb --extract "$package" "$root.new"; done
    rm -f "$root.new"/var/cache/apt/archives/*.deb
    mv "$root.new" "$root"
fi

export CC_aarch64_unknown_linux_gnu=aarch64-linux-gnu-gcc CXX_aarch64_unknown_linux_gnu=aarch64-linux-gnu-g++
export AR_aarch64_unknown_linux_gnu=aarch64-linux-gnu-ar
export BINDGEN_EXTRA_CLANG_ARGS_aarch64_unknown_linux_gnu=--sysroot=/usr/aarch64-linux-gnu
export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER=aarch64-linux-gnu-gcc
export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUNNER="qemu-aarch64 -L $root"
# It is the compiler's work that is tested here, and the disk that it takes is not small.
export CARGO_PROFILE_DEV_DEBUG=false CARGO_PROFILE_DEV_STRIP=debuginfo CARGO_INCREMENTAL=0
cargo build --locked --target "$target" --package rowferry-cli
rm -rf "$arm/wheels" "$arm/wheel"
.venv/bin/maturin build --quiet --locked --profile dev --target "$target" --interpreter python3.11 --auditwheel skip --out "$arm/wheels"
.venv/bin/python -m zipfile --extract "$arm"/wheels/*.whl "$arm/wheel"
install -D "${CARGO_TARGET_DIR:-target}/$target/debug/rowferry" "$arm/bin/rowferry"
printf '#!/bin/sh\nexec qemu-aarch64 -L %s %s "$@"\n' "$root" "$arm/bin/rowferry" >"$arm/rowferry"
printf '#!/bin/sh\nPYTHONPATH=%s exec qemu-aarch64 -L %s %s/usr/bin/python3 "$@"\n' "$arm/wheel" "$root" "$root" >"$arm/python"
chmod +x "$arm/rowferry" "$arm/python"

cargo test --locked --quiet --target "$target" --package rowferry-wire --package rowferry-wire-pg --package rowferry-wire-sqli \
    --package rowferry-wire-mysql
ROWFERRY_ARM=$arm ROWFERRY_BINARY=$arm/rowferry .venv/bin/python -m pytest tests/packaging/test_arm.py "$@"
