#!/bin/bash
# Prepare a machine for building, testing or measuring Rowferry. Runs again in well under a second when nothing is missing.
#
#   tools/setup.sh build    compiler dependencies, .venv with what the tests and the demo import
#   tools/setup.sh test     and MariaDB, PostgreSQL, Java and Maven, Node and npm, Go where Debian has one that is new enough
#   tools/setup.sh static   and what links the binary statically and makes packages of it
#   tools/setup.sh arm      and what compiles for 64-bit ARM and runs that here
#   tools/setup.sh bench    and the peers that the benchmarks measure
#   tools/setup.sh docs     what makes the site out of the guide, and no compiler
#
# Debian packages are installed only when they are missing and only as root on a Debian-like system; elsewhere the
# missing ones are named. No system service is started.
set -euo pipefail
cd "$(dirname "$0")/.."

goal=${1:-test}
case $goal in
    build | test | static | arm | bench | docs) ;;
    *) echo "usage: tools/setup.sh build|test|static|arm|bench|docs" >&2; exit 2 ;;
esac

venv=.venv
stamps=.cache/stamps
mkdir -p "$stamps"

say() { printf '== %s\n' "$*" >&2; }

# --- Debian packages -------------------------------------------------------------------------------------------------

missing=()
# need PACKAGE CHECK...: note PACKAGE unless the check command succeeds.
need() {
    local package=$1
    shift
    "$@" >/dev/null 2>&1 || missing+=("$package")
}
has_file() { compgen -G "$1" >/dev/null; }

has_libclang() { has_file '/usr/lib/llvm-*/lib/libclang*.so*' && has_file '/usr/lib/llvm-*/lib/clang/*/include/stddef.h'; }
has_python_headers() { python3 -c 'import os, sysconfig; assert os.path.exists(sysconfig.get_path("include") + "/Python.h")'; }
has_go() { command -v go || has_file /usr/local/go/bin/go; }
has_server() { command -v "$1" || has_file "/usr/sbin/$1"; }

need python3-venv python3 -c 'import ensurepip, venv'
if [[ $goal != docs ]]; then
    need build-essential command -v cc
    need libclang-dev has_libclang # bindgen, for libpg_query; at build time only
    need curl command -v curl
fi
if [[ $goal == test || $goal == bench ]]; then
    need mariadb-server has_server mariadbd
    need postgresql-client command -v psql
    need postgresql-15 has_file '/usr/lib/postgresql/*/bin/postgres' # what answers are compared with
    need pgbouncer has_server pgbouncer # stands between ours and a PostgreSQL server
    need postgresql-server-dev-15 has_file '/usr/include/postgresql/*/server/postgres.h' # its regression tests' functions in C
    need default-jdk-headless command -v javac
    need maven command -v mvn
    need nodejs command -v node
    need npm command -v npm
    need valgrind command -v callgrind_control # counts the instructions of hot paths
    # What mysqlclient is compiled against.
    need pkg-config command -v pkg-config
    need libmariadb-dev pkg-config --exists libmariadb
    need python3-dev has_python_headers
    need groff-base command -v groff # reads the manual pages, and the shells their completions
    need fish command -v fish
    need zsh command -v zsh
    need chromium command -v chromium # looks at the page of --web
    need php-cli command -v php # runs WordPress on the MySQL door
    need php-mysql has_file '/usr/lib/php/*/mysqli.so'
    need php-pgsql has_file '/usr/lib/php/*/pgsql.so' # and the tours of PHP's, Ruby's and Perl's clients
    need php-doctrine-orm has_file /usr/share/php/Doctrine/ORM/autoload.php
    need php-illuminate-database has_file /usr/share/php/Illuminate/Database/autoload.php
    need php-illuminate-pagination has_file /usr/share/php/Illuminate/Pagination/autoload.php
    need php-illuminate-events has_file /usr/share/php/Illuminate/Events/autoload.php
    need ruby command -v ruby
    need ruby-mysql2 ruby -rmysql2 -e ''
    need ruby-pg ruby -rpg -e ''
    need ruby-activerecord ruby -ractive_record -e ''
    need ruby-sequel ruby -rsequel -e ''
    need libdbd-mysql-perl perl -MDBD::mysql -e ''
    need libdbd-mariadb-perl perl -MDBD::MariaDB -e ''
    need libdbd-pg-perl perl -MDBD::Pg -e ''
    need libdbix-class-schema-loader-perl perl -MDBIx::Class::Schema::Loader -e ''
    need libsql-translator-perl perl -MSQL::Translator -e ''
    need lintian command -v lintian # reads the Debian package, and systemd its service
    need systemd command -v systemd-analyze
    # An older one would not build the tours: then they say that they were not tested.
    if command -v apt-cache >/dev/null && dpkg --compare-versions \
        "$(apt-cache policy golang-go 2>/dev/null | sed -n 's/.*Candidate: [0-9]*://p')" ge 1.23; then
        need golang-go has_go
    fi
fi
if [[ $goal == static ]]; then
    need musl-tools command -v musl-gcc
    need debootstrap command -v debootstrap
fi

if [[ $goal == arm && $(uname -m) != aarch64 ]]; then
    need gcc-aarch64-linux-gnu command -v aarch64-linux-gnu-gcc
    need g++-aarch64-linux-gnu command -v aarch64-linux-gnu-g++
    need qemu-user command -v qemu-aarch64
    need debootstrap command -v debootstrap
fi

if ((${#missing[@]})); then
    if [[ $(id -u) != 0 ]] || ! command -v apt-get >/dev/null; then
        echo "missing: ${missing[*]}" >&2
        echo "hint: install them with your package manager (names are Debian's), or run this as root on Debian" >&2
        exit 1
    fi
    say "installing Debian packages: ${missing[*]}"
    # A policy that forbids package scripts to start services; removed again if it was us who put it there.
    policy=/usr/sbin/policy-rc.d
    if [[ ! -e $policy ]]; then
        printf '#!/bin/sh\nexit 101\n' >"$policy"
        chmod +x "$policy"
        trap 'rm -f "$policy"' EXIT
    fi
    export DEBIAN_FRONTEND=noninteractive
    apt-get update -q </dev/null >&2
    apt-get install -y -q --no-install-recommends "${missing[@]}" </dev/null >&2
fi

[[ $goal == docs ]] || command -v cargo >/dev/null || {
    echo "missing: cargo" >&2
    echo "hint: install Rust 1.90 or newer from https://rustup.rs" >&2
    exit 1
}

if [[ $goal == static ]] && target=$(uname -m)-unknown-linux-musl && [[ ! -d $(rustc --print sysroot)/lib/rustlib/$target ]]; then
    say "installing Rust's $target"
    rustup target add "$target" </dev/null >&2
fi

if [[ $goal == arm && ! -d $(rustc --print sysroot)/lib/rustlib/aarch64-unknown-linux-gnu ]]; then
    say "installing Rust's aarch64-unknown-linux-gnu"
    rustup target add aarch64-unknown-linux-gnu </dev/null >&2
fi

if [[ $goal == test && ! -x .cache/bin/actionlint ]] && has_go >/dev/null; then
    say "installing actionlint"
    PATH=$PATH:/usr/local/go/bin GOBIN=$PWD/.cache/bin go install github.com/rhysd/actionlint/cmd/actionlint@v1.7.12 >&2 ||
        say "no actionlint: the workflows are read by one linter less"
fi

# --- Python environment ----------------------------------------------------------------------------------------------

if ! "$venv/bin/python" -c 'import pip' 2>/dev/null; then
    say "creating $venv"
    python3 -m venv --clear "$venv"
    rm -f "$stamps"/requirements-*
fi

# install_requirements NAME: install requirements/NAME.txt unless this very text was installed before.
install_requirements() {
    local file=requirements/$1.txt stamp=$stamps/requirements-$1
    if ! cmp -s "$file" "$stamp"; then
        say "installing $file into $venv"
        "$venv/bin/pip" install --quiet --disable-pip-version-check --requirement "$file" </dev/null >&2
        cp "$file" "$stamp"
    fi
}
if [[ $goal == docs ]]; then
    install_requirements docs
else
    install_requirements test
fi
if [[ $goal == test || $goal == bench ]]; then
    install_requirements compiled
fi
if [[ $goal == bench ]]; then
    install_requirements bench
fi
