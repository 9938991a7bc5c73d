#!/bin/bash
# Fuzz: SECONDS_EACH=60 tools/fuzz.sh [TARGET…]; without names every target, one after the other. `make fuzz` calls this.
#
# libFuzzer on stable Rust: our own crates are compiled with LLVM's coverage counters by stable options of rustc (see
# fuzz/rustc-with-coverage), so neither a nightly compiler nor cargo-fuzz is needed. Inputs that found something new are kept
# in .cache/fuzz/TARGET and are where the next run goes on. What it begins with are the golden vectors, fuzz/seeds/TARGET, and
# fuzz/crashes/TARGET: an input that ends badly is written there; commit it with the fix, and it is tried in every run.
#
# Bounds: ten seconds for an input, one gigabyte of memory for the process, both reported by libFuzzer as failures.
set -euo pipefail
cd "$(dirname "$0")/.."

seconds=${SECONDS_EACH:-60}
mapfile -t known < <(sed -n 's/^    ("\([a-z_]*\)", .*/\1/p' fuzz/src/main.rs)
targets=("$@")
((${#targets[@]})) || targets=("${known[@]}")
for target in "${targets[@]}"; do
    [[ " ${known[*]} " == *" $target "* ]] || { echo "no target $target; there are: ${known[*]}" >&2; exit 2; }
done

target_dir=${CARGO_TARGET_DIR:-$PWD/target}
echo "== building the fuzz targets" >&2
# The versions are those of the workspace; Cargo adds libFuzzer's.
cp Cargo.lock fuzz/Cargo.lock
(cd fuzz && CARGO_TARGET_DIR=$target_dir RUSTC_WRAPPER=$PWD/rustc-with-coverage CARGO_INCREMENTAL=0 cargo build --quiet)
binary=$target_dir/debug/rowferry-fuzz

failed=()
for target in "${targets[@]}"; do
    found=.cache/fuzz/$target
    crashes=fuzz/crashes/$target
    mkdir -p "$found" "$crashes"
    python3 tools/fuzz_seeds.py "$target" "$found"
    inputs=("$found" "$crashes")
    [[ ! -d fuzz/seeds/$target ]] || inputs+=("fuzz/seeds/$target")
    log=.cache/fuzz/$target.log
    echo "== $target for $seconds s" >&2
    if ROWFERRY_FUZZ_TARGET=$target "$binary" "${inputs[@]}" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=1024 \
        -max_len=4096 -artifact_prefix="$crashes/" -print_final_stats=1 >"$log" 2>&1; then
        grep -E 'number_of_executed_units|peak_rss_mb|slowest_unit' "$log" | sed 's/^stat:://' >&2
    else
        failed+=("$target")
        tail -n 40 "$log" >&2
    fi
    rmdir --ignore-fail-on-non-empty "$crashes"
done
rmdir --ignore-fail-on-non-empty fuzz/crashes 2>/dev/null || true
if ((${#failed[@]})); then
    echo "failed: ${failed[*]}; the inputs are in fuzz/crashes" >&2
    exit 1
fi
