#!/bin/bash
# Packs a `rowferry` binary with its manual, completions, service and licences: packaging/archive.sh BINARY DIRECTORY writes
# DIRECTORY/rowferry-VERSION-ARCH-linux.tar.gz and prints its path. BINARY must run here.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
binary=${1:?usage: packaging/archive.sh BINARY DIRECTORY} out=${2:?usage: packaging/archive.sh BINARY DIRECTORY}

version=$("$binary" --version | sed 's/^rowferry //')
name=rowferry-$version-$(uname -m)-linux
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
root=$work/$name
install -D -m 755 -s "$binary" "$root/rowferry"
install -D -m 644 -t "$root" "$here"/../{CHANGELOG.md,LICENSE-APACHE,LICENSE-MIT,README.md}
install -D -m 644 -t "$root/systemd" "$here"/systemd/*
"${PYTHON:-python3}" "$here/../tools/notices.py" rowferry-cli >"$root/THIRD-PARTY.txt"
"$binary" man --output "$root/man"
mkdir "$root/completions"
for shell in bash elvish fish powershell zsh; do "$binary" completions "$shell" >"$root/completions/rowferry.$shell"; done

mkdir -p "$out"
date=${SOURCE_DATE_EPOCH:-$(stat -c %Y "$here/../CHANGELOG.md")}
tar --create --directory "$work" --sort name --owner 0 --group 0 --numeric-owner --mtime "@$date" "$name" |
    gzip -9n >"$out/$name.tar.gz"
echo "$out/$name.tar.gz"
