#!/usr/bin/env bash
# What proof/ shows of the libpodrank.a that `make archive` builds is true of this module's archive for linux/amd64, too: linked as
# the proof links them, both give the same program, but for the names of symbols.
. "$(dirname "$0")/common.sh"

use_recorded
[ "$compiler" = "$recorded" ] || { echo "$check: SKIPPED: only $recorded makes the same code, and this is $compiler"; exit; }
[ "$(uname -m)" = x86_64 ] || { echo "$check: SKIPPED: the proof is about x86-64, and this is $(uname -m)"; exit; }
CARGO_TARGET_DIR=$(cd .. && realpath -m "${CARGO_TARGET_DIR:-target}")
export CARGO_TARGET_DIR
unset TARGET OUT
quietly make -s -C .. archive
# program ARCHIVE FILE
program() {
    quietly ../proof/link "$1" "$2" "${CC:-cc}" -static -Wl,--build-id=none
    quietly strip --strip-all "$2"
}
program "$CARGO_TARGET_DIR/c/libpodrank.a" "$tmp/proved"
program "$package/libpodrank_linux_amd64.a" "$tmp/bundled"
cmp "$tmp/proved" "$tmp/bundled" >&2 || fail "the archive for linux/amd64 has other code than the one that proof/ reads"
ok "linux/amd64 has the code that proof/ reads, $(wc -c <"$tmp/proved") bytes"
