#!/usr/bin/env bash
# Prints how much flash, static RAM, stack and time the archive takes on a Cortex-M3, function by function, and fails if it
# exceeds the budget. Sizes are the linker's. The stack is computed from the code, as the most that any path can take, and
# measured in QEMU, which must not find more. QEMU also counts the instructions.
#
# bytes: the function itself. alone: all code of podrank in a program that calls only this function; texts are not split.
# stack: the most, including all functions that it calls and the mem functions of examples-c/firmware. measured: the most
# over the vectors.
. "$(dirname "$0")/lib.sh"

target=thumbv7m-none-eabi
archive_for $target arm-none-eabi-
quietly env TARGET=$target CC="arm-none-eabi-gcc -mcpu=cortex-m3 -mthumb" AR=arm-none-eabi-ar READELF=arm-none-eabi-readelf \
    ffi/check/freestanding.sh
undefined=$(sed -n 's/.*undefined: \([^;]*\);.*/\1/p' "$tmp/output")
quietly make -s table

# Without a limit, so that the table is printed even if the budget is exceeded.
unlimited=--defsym=podrank_budget=1M
names=$(functions)
LINK="-Wl,$unlimited,--whole-archive,--no-gc-sections,--emit-relocs" firmware cortex-m3 "$tmp/whole" ffi/targets/empty.c

# alone NAME...: how many bytes of podrank are in a program that calls these functions.
alone() {
    quietly arm-none-eabi-ld --gc-sections $unlimited -T examples-c/firmware/cortex-m3.ld "${@/#/--undefined=}" -e "$1" \
        "$tmp/cortex-m3-memory.c.o" "$archive" -o "$tmp/alone"
    arm-none-eabi-size -A "$tmp/alone" | awk '$1 == ".podrank" { print $2 }'
}
for name in $names; do
    echo "$name $(alone "$name")"
done >"$tmp/alone.txt"

# image NAME SOURCE FUNCTION...: the flash of a whole program: this source, the start code, the mem functions, and from the archive
# what the source and these functions need.
image() {
    local name=$1 source=$2
    shift 2
    LINK="-Wl,$unlimited $(printf -- '-Wl,--undefined=%s ' ${*:-podrank_abi_1})" firmware cortex-m3 "$tmp/image" "$source"
    echo "$name $(arm-none-eabi-size -A "$tmp/image" | awk '$1 ~ /^[.](vectors|podrank|text|data)$/ { sum += $2 } END { print sum }')"
}
agent=$(grep -xE 'podrank_(plan|slow_start_.*|expectations_.*)' <<<"$names")
controller="podrank_compare podrank_select podrank_sort podrank_count_ranks podrank_predict podrank_availability $agent"
{
    image order-and-choose-victims ffi/targets/empty.c podrank_count_ranks podrank_select
    image a-node-agent ffi/targets/empty.c podrank_select $agent
    image examples-c/firmware examples-c/firmware/main.c
    image order,-predict,-controller ffi/targets/empty.c $controller
    image every-function ffi/targets/empty.c $names
} >"$tmp/images.txt"

sed 's/^/wrap /' <<<"$names" >"$tmp/wrapped.h"
LINK="-Wl,$unlimited$(printf ',--wrap=%s' $names)" firmware cortex-m3 "$tmp/stack" ffi/targets/stack.{c,S} ffi/check/vectors.c
emulate cortex-m3 "$tmp/stack" >"$tmp/measured.txt" || fail "the stack was not measured"
# With an instruction every 128 ns, the timer ticks at least once per instruction and does not overflow.
LINK="-Wl,$unlimited" firmware cortex-m3 "$tmp/growth" ffi/targets/growth.c
emulate cortex-m3 "$tmp/growth" -icount shift=7 >"$tmp/growth.txt" || fail "the instructions were not counted"

$PYTHON -B ffi/targets/budget.py "$tmp/whole" "$tmp"/{alone,measured,growth,images}.txt "$undefined" || fail "over"
ok
