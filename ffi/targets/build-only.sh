#!/usr/bin/env bash
# For machines that QEMU does not emulate well: the archive needs nothing that the compiler's runtime lacks, links with firmware,
# and has no float instructions, even if the machine does.
. "$(dirname "$0")/lib.sh"

for pair in thumbv6m-none-eabi=cortex-m0 thumbv7em-none-eabihf=cortex-m4; do
    target=${pair%=*} machine=${pair#*=}
    archive_for "$target" arm-none-eabi-
    quietly env TARGET="$target" CC="arm-none-eabi-gcc -mcpu=$machine -mthumb" AR=arm-none-eabi-ar \
        READELF=arm-none-eabi-readelf ffi/check/freestanding.sh
    firmware "$machine" "$tmp/firmware" examples-c/firmware/main.c
    arm-none-eabi-objdump -d "$archive" >"$tmp/code"
    grep -q '	push' "$tmp/code" || fail "$target: no code was read"
    ! grep -P '^ *[0-9a-f]+:\t[0-9a-f ]+\tv' "$tmp/code" >&2 || fail "$target: float instructions"
done
ok "thumbv6m, thumbv7em with hard float: linked, no float instruction"
