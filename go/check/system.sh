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
# On 32-bit machines records are not aligned as the library wants them: there is none to link.
for arch in 386 arm mips mipsle; do
    files=$(CGO_ENABLED=1 GOARCH=$arch "$GO" list -tags podrank_system -f '{{.CgoFiles}} {{.GoFiles}}' "./$package")
    [ "$files" = '[] [missing.go record.go]' ] || fail "on $arch, $package is $files"
done
ok "$(pkg-config --modversion podrank) through pkg-config"
