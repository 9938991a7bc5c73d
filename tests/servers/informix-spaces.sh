#!/usr/bin/env bash
# Gives the container of informix-compose.yml a space for BYTE and TEXT, and one for BLOB and CLOB: the image has neither.
# Running it again changes nothing.
set -euo pipefail
container="${1:-rowferry-informix}"

docker exec --interactive --user informix "$container" bash <<'inside'
set -euo pipefail
# 12.10 and 14.10 live in the first place, 15 in a directory of its version below it.
for directory in /opt/ibm/informix /opt/ibm/informix/v*; do
    if [ -x "$directory/bin/onspaces" ]; then export INFORMIXDIR="$directory"; fi
done
export PATH="$INFORMIXDIR/bin:$PATH" INFORMIXSERVER=informix INFORMIXSQLHOSTS="$INFORMIXDIR/etc/sqlhosts"
for name in onconfig onconfig.informix; do
    if [ -f "$INFORMIXDIR/etc/$name" ]; then export ONCONFIG="$name"; fi
done
chunks=/opt/ibm/data/spaces
mkdir -p "$chunks"
make_space() {
    if onstat -d | grep -qw "$1"; then return; fi
    install --mode 660 /dev/null "$chunks/$1"
    onspaces -c "$2" "$1" -p "$chunks/$1" -o 0 -s 50000 "${@:3}"
}
make_space blobspace1 -b -g 1
make_space sbspace1 -S -Df AVG_LO_SIZE=100
onmode -wm SBSPACENAME=sbspace1
inside
