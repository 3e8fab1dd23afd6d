# What the checks share. Each is run by itself or by `make check-c`, and prints one line.
set -euo pipefail
export LC_ALL=C

check=$(basename "$0" .sh)
cd "$(dirname "$0")/../.."
: "${AR:=ar}" "${CC:=cc}" "${CXX:=c++}" "${NM:=nm}" "${PYTHON:=python3}" "${READELF:=readelf}" "${PKG_CONFIG:=pkg-config}"
: "${CARGO_TARGET_DIR:=target}" "${TARGET:=}"
: "${OUT:=$CARGO_TARGET_DIR${TARGET:+/$TARGET}/c}"
archive=$OUT/libpodrank.a
shared=$OUT/libpodrank.so
strict="-Wall -Wextra -Wpedantic -Werror"

tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

fail() {
    echo "$check: FAILED: $*" >&2
    exit 1
}

ok() {
    echo "$check: ok${1:+: $1}"
}

# Runs a command that must succeed, and shows what it printed only if it does not.
quietly() {
    "$@" >"$tmp/output" 2>&1 || {
        cat "$tmp/output" >&2
        fail "$*"
    }
}

# The names of the header's functions, in order.
functions() {
    sed -nE 's/^[a-z].*[ *](podrank_[a-z0-9_]+)\(.*/\1/p' include/podrank.h | sort
}

# Brings the library up to date; nothing is done if it is.
quietly make -s archive
