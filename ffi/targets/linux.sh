#!/usr/bin/env bash
# Runs on Linux on other machines in QEMU: the examples, every function, every vector. s390x is big-endian, and i686 aligns 64-bit integers
# to four bytes. Keys are the same as on this machine.
. "$(dirname "$0")/lib.sh"

machines="aarch64 s390x i686"
for machine in $machines; do
    target=$machine-unknown-linux-gnu tools=$machine-linux-gnu-
    run=qemu-${machine/i686/i386}
    command -v "$run" >/dev/null || run=$run-static
    archive_for "$target" "$tools"
    quietly env TARGET="$target" CC="${tools}gcc" AR="${tools}ar" READELF="${tools}readelf" RUN="$run" ffi/check/freestanding.sh
    quietly make -s table
    quietly "${tools}gcc" -std=c99 $strict -O2 -static -DPODRANK_VECTORS_MAIN -Iinclude -I"$CARGO_TARGET_DIR/c" \
        ffi/check/vectors.c "$archive" -o "$tmp/vectors"
    "$run" "$tmp/vectors" keys >"$tmp/printed" || fail "$machine: the vectors do not hold"
    same_keys "$tmp/printed"
    quietly make -s -C examples-c run EXAMPLES="$(basename -s .c -a examples-c/*.c | paste -sd" ")" CC="${tools}gcc" \
        CFLAGS="-O2 -static" RUN="$run" LIBRARY="$(realpath "$archive")" BIN="$tmp/examples-$machine"
done
ok "$machines: examples, every function, every vector and $keys keys"
