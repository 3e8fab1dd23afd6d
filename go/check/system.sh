#!/usr/bin/env bash
# With -tags podrank_system the module links an installed library, found by pkg-config, and passes its tests.
. "$(dirname "$0")/common.sh"

quietly make -s -C .. install DESTDIR="$tmp/staged" PREFIX=/opt/podrank
export PKG_CONFIG_LIBDIR=$tmp/staged/opt/podrank/lib/pkgconfig PKG_CONFIG_SYSROOT_DIR=$tmp/staged
# Go's cache knows nothing of what pkg-config says: a flag that is new each time keeps it from linking with an older place.
export CGO_CPPFLAGS=-DPODRANK_STAGED=$(basename "$tmp" | tr -c 'a-zA-Z0-9\n' _)
export LD_LIBRARY_PATH=$tmp/staged/opt/podrank/lib
quietly "$GO" test -count=1 -tags podrank_system .
quietly "$GO" test -c -tags podrank_system -o "$tmp/test" .
readelf -dW "$tmp/test" | grep -q 'NEEDED.*\[libpodrank\.so' || fail "the installed library is not linked"
# On 32-bit machines, records are not aligned as the library needs them, and without cgo nothing can be linked: plain Go
# decides.
for way in "1 386" "1 arm" "1 mips" "1 mipsle" "0 amd64"; do
    files=$(CGO_ENABLED=${way% *} GOARCH=${way#* } "$GO" list -tags podrank_system -f '{{.GoFiles}}' ./internal/engine)
    [ "$files" = '[engine.go plain.go]' ] || fail "with CGO_ENABLED=${way/ / on }, the engine is $files"
done
ok "$(pkg-config --modversion podrank) through pkg-config"
