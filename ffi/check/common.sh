# Shared by the checks. Run one of them, or all with `make check-c`. Each prints one line.
set -euo pipefail
export LC_ALL=C

check=$(basename "$0" .sh)
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
: "${AR:=ar}" "${CC:=cc}" "${CXX:=c++}" "${NM:=nm}" "${PYTHON:=python3}" "${READELF:=readelf}" "${PKG_CONFIG:=pkg-config}"
: "${CARGO_TARGET_DIR:=target}" "${TARGET:=}"
: "${OUT:=$CARGO_TARGET_DIR${TARGET:+/$TARGET}/c}"
archive=$OUT/libpodrank.a
headers=(include/podrank.h include/podrank/*.h)
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

# Runs a command that must succeed, and shows its output only if it fails.
quietly() {
    "$@" >"$tmp/output" 2>&1 || {
        cat "$tmp/output" >&2
        fail "$*"
    }
}

# The names of the header's functions, in order.
functions() {
    sed -nE 's/^[a-z].*[ *](podrank_[a-z0-9_]+)\(.*/\1/p' "${headers[@]}" | sort
}

# allowed MACHINE: the functions that the archive may need there.
allowed() {
    echo memcpy memmove memset memcmp
    case $1 in
    # The same functions, as 32-bit ARM's run-time ABI names them.
    arm* | thumb*) echo __aeabi_mem{cpy,move,set,clr}{,4,8} ;;
    esac
    case $1 in
    # A Cortex-M0 has no instruction to divide, to shift 64 bits or to count leading zeros: the compiler's runtime does it.
    thumbv6m) echo __aeabi_uidiv __aeabi_uidivmod __aeabi_lmul __aeabi_llsl __aeabi_llsr __clzsi2 ;;
    esac
}

# needed MACHINE ARCHIVE: the functions that the archive needs, one a line; fails if one is not allowed.
needed() {
    local symbol symbols
    # On i686, code finds data by a table that the linker itself makes.
    symbols=$("$READELF" -sW "$2" | awk '$7 == "UND" && $8 != "" && $8 != "_GLOBAL_OFFSET_TABLE_" { print $8 }' | sort -u)
    for symbol in $symbols; do
        [ "$symbol" != podrank_has_a_panic_path ] || fail "a panic path: podrank_has_a_panic_path is undefined"
        [[ " $(allowed "$1" | paste -sd' ') " = *" $symbol "* ]] || fail "$symbol is undefined"
    done
    [ -z "$symbols" ] || echo "$symbols"
}

# Builds the library if it is not up to date.
quietly make -s archive
