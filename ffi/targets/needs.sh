#!/usr/bin/env bash
# Prints which functions the archive needs on each machine, and fails if one is not among those that every C compiler's
# runtime has. A C library has the mem functions; without one, copy examples-c/firmware/memory.c.
# needs.sh [TARGET...]: for these targets alone.
. "$(dirname "$0")/lib.sh"

# prints NAME MACHINE
prints() {
    needed "$2" "$archive" >"$tmp/needed"
    [ -s "$tmp/needed" ] || echo nothing >"$tmp/needed"
    printf '%-30s %s\n' "$1" "$(paste -sd' ' "$tmp/needed")"
}

# binutils TARGET: what the names of its tools start with.
binutils() {
    case $1 in
    aarch64-unknown-linux-gnu | s390x-unknown-linux-gnu) echo "${1%%-*}-linux-gnu-" ;;
    riscv32*-none-elf) echo riscv64-unknown-elf- ;;
    thumb*-none-eabi*) echo arm-none-eabi- ;;
    *) fail "$1 has no binutils here: add them to ffi/targets/needs.sh" ;;
    esac
}

if [ $# = 0 ]; then
    prints "$(uname -m)" "$(uname -m)"
    # ffi/targets/wasm.sh builds a module without imports.
    printf '%-30s %s\n' wasm32-unknown-unknown nothing
    set -- {aarch64,s390x}-unknown-linux-gnu riscv32imac-unknown-none-elf thumbv{6m,7m}-none-eabi thumbv7em-none-eabihf
fi
for target; do
    tools=$(binutils "$target")
    archive_for "$target" "$tools"
    prints "$target" "${target%%-*}"
done
ok
