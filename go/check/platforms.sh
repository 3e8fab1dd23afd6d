#!/usr/bin/env bash
# Without cgo the module builds and vets for other systems and machines, and decides there: the tests run on big-endian s390x and
# on arm64, those of the translation on 32 bits, in QEMU where that is needed.
. "$(dirname "$0")/common.sh"

export CGO_ENABLED=0
for platform in darwin/arm64 windows/amd64 linux/arm64 linux/riscv64 linux/s390x; do
    quietly env GOOS="${platform%/*}" GOARCH="${platform#*/}" "$GO" vet ./...
done
# The tests count pods beyond what 32 bits hold.
quietly env GOARCH=386 "$GO" build ./...

# runs GOARCH MACHINE PACKAGE: where there is what can run it.
ran=""
runs() {
    local emulator=qemu-$2
    command -v "$emulator" >/dev/null || emulator=$emulator-static
    case "$1 $(uname -m)" in
    "386 x86_64" | "arm64 aarch64" | "s390x s390x") emulator="" ;;
    *) command -v "$emulator" >/dev/null || return 0 ;;
    esac
    GOARCH=$1 quietly "$GO" test -c -o "$tmp/test-$1" "$3"
    # Emulated, goroutines that wait for each other take long, and allocations are counted on a real machine.
    (cd "$3" && quietly $emulator "$tmp/test-$1" -test.skip 'IsAllocated|AtOnce|ManyDeletions')
    ran="$ran $1"
}
runs s390x s390x .
runs arm64 aarch64 .
runs 386 i386 ./internal/translated
[[ $ran = *s390x* ]] || fail "there is no qemu-s390x: apt-get install qemu-user"
ok "without cgo; ran on$ran"
