#!/usr/bin/env bash
# The archive needs only functions that every C compiler's runtime has: no std, no panic path, no memory of its own. Proven by
# its symbols and sections, by the linker on the archive alone, and by a program without a C library that runs. `make needs`
# prints which functions each machine needs.
# To check another archive: ffi/check/freestanding.sh libpodrank.a
# With TARGET, the program runs only if RUN names an emulator: TARGET=s390x-unknown-linux-gnu RUN=qemu-s390x.
. "$(dirname "$0")/common.sh"
archive=${1:-$archive}

machine=${TARGET%%-*}
machine=${machine:-$(uname -m)}
allowed=$(allowed "$machine")

members=$("$AR" t "$archive")
[ "$members" = podrank.o ] || fail "$archive holds not podrank.o alone, but $(wc -w <<<"$members") members"

needed "$machine" "$archive" >"$tmp/undefined"

# Whatever can be written (W) is memory of its own; whatever is bigger than nothing counts. To .data.rel.ro, the loader alone writes
# addresses, and only on machines such as i686, where the compiler makes no tables of distances instead.
"$READELF" -SW "$archive" | sed -nE 's/^ *\[ *[0-9]+\]//p' |
    awk '$(NF-3) ~ /W/ && $(NF-5) !~ /^0+$/ && $1 !~ /^\.data\.rel\.ro/ { print $1 }' >"$tmp/writable"
[ ! -s "$tmp/writable" ] || fail "memory that is written: $(tr '\n' ' ' <"$tmp/writable")"

defsyms=$(for symbol in $allowed; do printf ' -Wl,--defsym,%s=0' "$symbol"; done)
quietly $CC -nostdlib -static $defsyms -Wl,--fatal-warnings,--entry=podrank_abi_1 \
    -Wl,--whole-archive "$archive" -Wl,--no-whole-archive -o "$tmp/whole"

for function in $(functions); do
    grep -q "$function(" ffi/check/freestanding.c || fail "ffi/check/freestanding.c does not call $function"
done
quietly make -s table
ran="no program for $machine"
if [[ $machine = x86_64 || $machine = aarch64 || $machine = s390x ]]; then
    # No builtins: the compiler would see memcpy in the loop of memcpy.
    quietly $CC -std=c11 $strict -O2 -ffreestanding -fno-builtin -fno-tree-loop-distribute-patterns \
        -fno-stack-protector -nostdlib -static -Iinclude -I"$OUT" ffi/check/freestanding.c ffi/check/vectors.c \
        examples-c/firmware/memory.c "$archive" -Wl,--fatal-warnings -o "$tmp/program"
    ran="a program without a C library linked"
fi
if [[ -f $tmp/program && ($machine = "$(uname -m)" || -n ${RUN:-}) ]]; then
    quietly ${RUN:-} "$tmp/program"
    ran="$ran and ran"
fi
ok "undefined: $(paste -sd' ' "$tmp/undefined"); $ran"
