#!/bin/bash
# Prints the version: that of the workspace in Cargo.toml, the one place where it stands.
set -euo pipefail
sed -n '/^\[workspace\.package\]/,/^\[/s/^version = "\(.*\)"/\1/p' "$(dirname "$0")/../Cargo.toml"
