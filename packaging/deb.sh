#!/bin/bash
# Makes a Debian package of a `rowferry` binary: packaging/deb.sh BINARY DIRECTORY writes DIRECTORY/rowferry_VERSION_ARCH.deb
# and prints its path. BINARY must run here: it writes its man pages and completions itself. One that is linked statically
# needs nothing of the system; for others the C library's version is read from what they ask of it.
# COMPRESSION=gzip is quicker than xz, for tests.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
binary=${1:?usage: packaging/deb.sh BINARY DIRECTORY} out=${2:?usage: packaging/deb.sh BINARY DIRECTORY}

version=$("$binary" --version | sed 's/^rowferry //')
case $(readelf -h "$binary" | sed -n 's/^ *Machine: *//p') in
    *X86-64) architecture=amd64 ;;
    AArch64) architecture=arm64 ;;
    *) echo "deb.sh: $binary is for a machine that has no name here" >&2; exit 1 ;;
esac

# There is no address before there is a place where it is published.
maintainer="The Rowferry developers <rowferry@localhost>"

# What it asks of the system's libraries.
needed=$(readelf -d "$binary" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p')
depends=()
for library in $needed; do
    case $library in
        libc.so.* | libm.so.* | ld-linux*) ;;
        libgcc_s.so.1) depends+=(libgcc-s1) ;;
        *) echo "deb.sh: $binary wants $library, and nobody has said which package has it" >&2; exit 1 ;;
    esac
done
if [[ -n $needed ]]; then
    glibc=$(readelf -V "$binary" | grep -o 'GLIBC_[0-9.]*' | sed 's/GLIBC_//' | sort -Vu | tail -1)
    depends+=("libc6 (>= $glibc)")
fi
depends_line=$(printf ', %s' "${depends[@]}")

root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
put() { install -D -m "$1" "$2" "$root/$3"; }
put 755 "$binary" usr/bin/rowferry
strip --strip-unneeded "$root/usr/bin/rowferry"
put 644 "$here/systemd/rowferry@.service" usr/lib/systemd/system/rowferry@.service
put 644 "$here/systemd/rowferry.sysusers" usr/lib/sysusers.d/rowferry.conf
put 644 "$here/systemd/rowferry.tmpfiles" usr/lib/tmpfiles.d/rowferry.conf
put 644 "$here/debian/rowferry.conf" etc/rowferry/rowferry.conf
put 644 "$here/debian/hba.conf" etc/rowferry/hba.conf
doc=$root/usr/share/doc/rowferry
mkdir -p "$doc"
gzip -9n <"$here/../CHANGELOG.md" >"$doc/CHANGELOG.md.gz"
# Debian's form of it, and the one date of everything in the package.
export SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(stat -c %Y "$here/../CHANGELOG.md")}
gzip -9n >"$doc/changelog.gz" <<END
rowferry ($version) unstable; urgency=medium

  * What is new is told in CHANGELOG.md.gz.

 -- $maintainer  $(date --utc --rfc-email --date "@$SOURCE_DATE_EPOCH")
END
cat "$here/debian/copyright" "$here/../LICENSE-MIT" >"$doc/copyright"
"${PYTHON:-python3}" "$here/../tools/notices.py" rowferry-cli | gzip -9n >"$doc/THIRD-PARTY.gz"

mkdir -p "$root/usr/share/man/man1"
"$binary" man --output "$root/usr/share/man/man1" >/dev/null
gzip -9n "$root"/usr/share/man/man1/*.1
complete() { mkdir -p "$root/$(dirname "$2")"; "$binary" completions "$1" >"$root/$2"; }
complete bash usr/share/bash-completion/completions/rowferry
complete zsh usr/share/zsh/vendor-completions/_rowferry
complete fish usr/share/fish/vendor_completions.d/rowferry.fish

mkdir "$root/DEBIAN"
for script in postinst prerm postrm; do put 755 "$here/debian/$script" "DEBIAN/$script"; done
(cd "$root" && find etc -type f -printf '/%p\n' | sort) >"$root/DEBIAN/conffiles"
(cd "$root" && find usr -type f -print0 | sort -z | xargs -0 md5sum) >"$root/DEBIAN/md5sums"
{
    echo "Package: rowferry"
    echo "Version: $version"
    echo "Architecture: $architecture"
    echo "Maintainer: $maintainer"
    echo "Installed-Size: $(du -sk --exclude=DEBIAN "$root" | cut -f1)"
    if ((${#depends[@]})); then echo "Depends: ${depends_line#, }"; fi
    cat "$here/debian/control"
} >"$root/DEBIAN/control"
find "$root" -type d -exec chmod 755 {} +
find "$root" -type f -not -path '*/bin/*' -not -path '*/DEBIAN/p*' -exec chmod 644 {} +

mkdir -p "$out"
package=$out/rowferry_${version}_$architecture.deb
dpkg-deb --root-owner-group --build "-Z${COMPRESSION:-xz}" "$root" "$package" >/dev/null
echo "$package"
