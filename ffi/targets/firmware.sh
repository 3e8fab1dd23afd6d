#!/usr/bin/env bash
# Runs without an operating system, in QEMU: the C and the Rust firmware, every function and every vector, on a Cortex-M3 and
# on a 32-bit RISC-V core. Keys are the same as on this machine.
. "$(dirname "$0")/lib.sh"

# The emulator exits with the status that a program returns.
echo 'int main(void); int main(void) { return 7; }' >"$tmp/seven.c"
# runs MACHINE TARGET BINUTILS
runs() {
    archive_for "$2" "$3"
    firmware "$1" "$tmp/seven" "$tmp/seven.c"
    ! emulate "$1" "$tmp/seven" || fail "$1: a program that returns 7 does not fail"
    LINK=${4:-} firmware "$1" "$tmp/freestanding" ffi/check/freestanding.c ffi/check/vectors.c
    emulate "$1" "$tmp/freestanding" || fail "$1: $? from ffi/check/freestanding.c"
    LINK=${4:-} firmware "$1" "$tmp/print" ffi/targets/keys.c ffi/check/vectors.c
    emulate "$1" "$tmp/print" >"$tmp/printed" || fail "$1: the keys were not printed"
    same_keys "$tmp/printed"
}
quietly make -s table
runs riscv32 riscv32imac-unknown-none-elf riscv64-unknown-elf-
# ffi/targets/budget.sh checks the size.
runs cortex-m3 thumbv7m-none-eabi arm-none-eabi- -Wl,--defsym=podrank_budget=1M

# The archive is built: this needs no core.
quietly make -s -C examples-c/firmware run
core_for thumbv7m-none-eabi
export CARGO_TARGET_DIR=$(realpath -m "$CARGO_TARGET_DIR/firmware")
[ -x "$(rustc --print sysroot)/lib/rustlib/$(rustc -vV | sed -n 's/^host: //p')/bin/rust-lld" ] ||
    export CARGO_TARGET_THUMBV7M_NONE_EABI_LINKER=arm-none-eabi-ld
cd tests/firmware
quietly cargo fmt --check
# Clippy does not build core.
[ "$CARGO" != cargo ] || quietly cargo clippy --quiet --release -- -D warnings
quietly $CARGO build --quiet --release
$CARGO run --quiet --release >"$tmp/printed" 2>"$tmp/errors" </dev/null || { cat "$tmp/errors" >&2; fail "tests/firmware: $?"; }
diff expected.txt "$tmp/printed" >&2 || fail "tests/firmware prints something else"
ok "C and Rust on a Cortex-M3, every function, every vector and $keys keys on it and on 32-bit RISC-V"
