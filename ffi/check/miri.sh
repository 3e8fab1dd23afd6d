#!/usr/bin/env bash
# No C function makes a reference to memory that its caller need not have initialised. Miri, Rust's interpreter, ends the
# test at the first one. Not part of `make check-c`, because it needs a nightly Rust: rustup +nightly component add miri rust-src
. "$(dirname "$0")/common.sh"

export CARGO_TARGET_DIR=$CARGO_TARGET_DIR/miri MIRIFLAGS="-Zmiri-recursive-validation -Zmiri-permissive-provenance"
quietly cargo +nightly miri test --quiet -p podrank-ffi --test c -- outputs_need_not_be_initialised
grep -q "test result: ok. 1 passed" "$tmp/output" || fail "the test did not run"
ok
