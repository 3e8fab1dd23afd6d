#!/usr/bin/env bash
# Runs the tests of core and of the C promises on 32-bit x86, where 64-bit integers are aligned to four bytes. They need std, which only
# rustup has for it: without it, this says that it skips.
. "$(dirname "$0")/lib.sh"

target=i686-unknown-linux-gnu
timeout 120 rustup -q target add $target >"$tmp/output" 2>&1 || { echo "$check: SKIPPED: rustup has no $target here"; exit; }
# Programs with their own C library run without that of this machine.
export CARGO_TARGET_I686_UNKNOWN_LINUX_GNU_LINKER=i686-linux-gnu-gcc
export CARGO_TARGET_I686_UNKNOWN_LINUX_GNU_RUSTFLAGS=-Ctarget-feature=+crt-static
cargo test --quiet --target $target -p podrank -p podrank-ffi --lib --tests
ok "tests of core and of the C promises"
