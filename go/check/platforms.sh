#!/usr/bin/env bash
# Without cgo the module builds and vets for other systems and machines, and decides: its tests run for s390x, which is big-endian,
# and for 32 bits, in QEMU where that is needed.
. "$(dirname "$0")/common.sh"

export CGO_ENABLED=0
for platform in darwin/arm64 windows/amd64 freebsd/amd64 linux/arm64 linux/riscv64 linux/s390x linux/386 linux/arm; do
    quietly env GOOS="${platform%/*}" GOARCH="${platform#*/}" "$GO" vet ./...
done
ran=""
for machine in s390x=s390x arm64=aarch64 386=i386; do
    arch=${machine%=*} emulator=qemu-${machine#*=}
    command -v "$emulator" >/dev/null || emulator=$emulator-static
    case "$arch $(uname -m)" in
    "386 x86_64" | "arm64 aarch64" | "s390x s390x") emulator="" ;;
    *) command -v "$emulator" >/dev/null || continue ;;
    esac
    # Emulated, goroutines that wait for each other take long, and allocations are counted on a real machine.
    for tests in . ./internal/translated; do
        GOARCH=$arch quietly "$GO" test -c -o "$tmp/test-$arch" "$tests"
        (cd "$tests" && quietly $emulator "$tmp/test-$arch" -test.skip 'NothingIsAllocated|AtOnce')
    done
    ran="$ran $arch"
done
[[ $ran = *s390x* ]] || fail "there is no qemu-s390x: apt-get install qemu-user"
ok "without cgo; ran on$ran"
