#!/usr/bin/env bash
# The C functions pass the cases of tests/vectors/, in the archive and in the shared library.
. "$(dirname "$0")/common.sh"

quietly make -s table
build="$CC -std=c99 $strict -Wconversion -O2 -DPODRANK_VECTORS_MAIN -Iinclude -I$OUT ffi/check/vectors.c"
quietly $build "$archive" -o "$tmp/static"
quietly $build "$shared" -Wl,-rpath,"$(realpath "$OUT")" -o "$tmp/shared"
quietly "$tmp/shared"
quietly "$tmp/static"
ok "$(cat "$tmp/output")"
