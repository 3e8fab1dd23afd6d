#!/usr/bin/env bash
# Without cgo, the module builds and vets for other systems and machines, and so does the README's quick start. The quick start and
# the tests run on big-endian s390x, on arm64 and on 32 bits: in QEMU, unless this is such a machine. There internal/engine compares
# plain Go with the recorded answers of libpodrank.
. "$(dirname "$0")/common.sh"

export CGO_ENABLED=0
consumer "$tmp/consumer"
for platform in darwin/arm64 windows/amd64 linux/arm64 linux/riscv64 linux/s390x linux/386; do
    export GOOS=${platform%/*} GOARCH=${platform#*/}
    quietly "$GO" vet ./...
    (cd "$tmp/consumer" && quietly "$GO" build -mod=mod -o "$tmp/quick-start-$GOARCH" .)
done
unset GOOS GOARCH

# emulator GOARCH MACHINE: sets $emulator to what runs its programs here, which is nothing on such a machine itself.
emulator() {
    case "$1 $(uname -m)" in
    "386 x86_64" | "arm64 aarch64" | "s390x s390x") emulator="" ;;
    *) emulator=$(command -v "qemu-$2" || command -v "qemu-$2-static") || fail "there is no qemu-$2: apt-get install qemu-user" ;;
    esac
}
for pair in s390x=s390x arm64=aarch64 386=i386; do
    arch=${pair%=*}
    emulator "$arch" "${pair#*=}"
    $emulator "$tmp/quick-start-$arch" | diff "$tmp/consumer/expected" - >&2 || fail "$arch: the quick start prints something else"
    for package in . ./internal/engine ./internal/plain; do
        quietly env GOARCH="$arch" "$GO" test -c -o "$tmp/test-$arch" "$package"
        # Emulated, goroutines that wait for each other take long. Allocations are counted on a real machine.
        (cd "$package" && quietly $emulator "$tmp/test-$arch" -test.skip 'IsAllocated|AtOnce|ManyDeletions')
    done
done
ok "without cgo: ran on s390x, arm64 and 386"
