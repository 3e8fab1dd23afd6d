#!/usr/bin/env bash
# What the archive takes of a Cortex-M3, and what it may take: flash, static RAM and stack, function by function, and time.
# Prints the table, and fails if something is over. The linker says how large it is, the code how much stack it takes at worst,
# and a run in QEMU how much it took (never more), and how many instructions.
#
# bytes: the function itself. alone: all of podrank in a program that calls nothing else of it; texts come as a whole. stack:
# at worst, with all that is called, the mem functions of examples-c/firmware included. measured: over the vectors.
. "$(dirname "$0")/lib.sh"

target=thumbv7m-none-eabi
archive_for $target arm-none-eabi-
quietly env TARGET=$target CC="arm-none-eabi-gcc -mcpu=cortex-m3 -mthumb" AR=arm-none-eabi-ar READELF=arm-none-eabi-readelf \
    ffi/check/freestanding.sh
undefined=$(sed -n 's/.*undefined: \([^;]*\);.*/\1/p' "$tmp/output")
quietly make -s table

# Without a budget, so that there is a table even of what is over.
unlimited=--defsym=podrank_budget=1M
names=$(functions)
LINK="-Wl,$unlimited,--whole-archive,--no-gc-sections,--emit-relocs" firmware cortex-m3 "$tmp/whole" ffi/targets/empty.c

# alone NAME...: the bytes of podrank in a program that calls these functions.
alone() {
    quietly arm-none-eabi-ld --gc-sections $unlimited -T examples-c/firmware/cortex-m3.ld "${@/#/--undefined=}" -e "$1" \
        "$tmp/cortex-m3-memory.c.o" "$archive" -o "$tmp/alone"
    arm-none-eabi-size -A "$tmp/alone" | awk '$1 == ".podrank" { print $2 }'
}
for name in $names; do
    echo "$name $(alone "$name")"
done >"$tmp/alone.txt"
two=$(alone podrank_compare podrank_select)
# Who calls nothing of Deployments pays nothing for them; they have a limit of their own.
deployments="podrank_deployment_next podrank_percent_parse podrank_reason_str podrank_replica_set_annotations"
others=$(grep -vxF "${deployments// /$'\n'}" <<<"$names")
without=$(alone $others)

sed 's/^/wrap /' <<<"$names" >"$tmp/wrapped.h"
LINK="-Wl,$unlimited$(printf ',--wrap=%s' $names)" firmware cortex-m3 "$tmp/stack" ffi/targets/stack.{c,S} ffi/check/vectors.c
emulate cortex-m3 "$tmp/stack" >"$tmp/measured.txt" || fail "the stack was not measured"
# With an instruction every 128 ns, the timer ticks more than once for each, and does not run over.
LINK="-Wl,$unlimited" firmware cortex-m3 "$tmp/growth" ffi/targets/growth.c
emulate cortex-m3 "$tmp/growth" -icount shift=7 >"$tmp/growth.txt" || fail "the instructions were not counted"

$PYTHON -B ffi/targets/budget.py "$tmp/whole" "$tmp"/{alone,measured,growth}.txt "$two" "$without" "$undefined" || fail "over"
# The linker has the last word.
LINK=$(printf -- '-Wl,--undefined=%s ' $others) firmware cortex-m3 "$tmp/within" ffi/targets/empty.c
ok
