#!/usr/bin/env bash
# Prints which functions the archive needs on each machine, and fails if one is not among those that every C compiler's
# runtime has. A C library has the mem functions; without one, copy examples-c/firmware/memory.c.
. "$(dirname "$0")/lib.sh"

# prints NAME MACHINE
prints() {
    needed "$2" "$archive" >"$tmp/needed"
    [ -s "$tmp/needed" ] || echo nothing >"$tmp/needed"
    printf '%-30s %s\n' "$1" "$(paste -sd' ' "$tmp/needed")"
}
prints "$(uname -m)" "$(uname -m)"
for pair in aarch64-unknown-linux-gnu=aarch64-linux-gnu- s390x-unknown-linux-gnu=s390x-linux-gnu- \
    riscv32imac-unknown-none-elf=riscv64-unknown-elf- thumbv6m-none-eabi=arm-none-eabi- \
    thumbv7m-none-eabi=arm-none-eabi- thumbv7em-none-eabihf=arm-none-eabi-; do
    target=${pair%=*}
    archive_for "$target" "${pair#*=}"
    prints "$target" "${target%%-*}"
done
# ffi/targets/wasm.sh builds a module without imports.
printf '%-30s %s\n' wasm32-unknown-unknown nothing
ok
