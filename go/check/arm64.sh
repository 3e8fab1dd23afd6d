#!/usr/bin/env bash
# The tests for linux/arm64 link, and pass where an arm64 machine or qemu is there to run them.
. "$(dirname "$0")/common.sh"

if [ "$(uname -m)" = aarch64 ]; then
    ok "this is one: go test has run"
    exit
fi
command -v aarch64-linux-gnu-gcc >/dev/null || fail "there is no aarch64-linux-gnu-gcc: apt-get install gcc-aarch64-linux-gnu"
quietly env CGO_ENABLED=1 GOARCH=arm64 CC=aarch64-linux-gnu-gcc "$GO" test -c -o "$tmp/test" .
qemu=$(command -v qemu-aarch64 || command -v qemu-aarch64-static) || {
    echo "$check: SKIPPED running: linked, but there is no qemu-aarch64: apt-get install qemu-user"
    exit
}
# Allocations are counted on a real machine.
quietly "$qemu" -L /usr/aarch64-linux-gnu "$tmp/test" -test.skip 'NothingIsAllocated|AtOnce'
ok "linked, and ran in qemu"
