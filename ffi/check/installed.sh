#!/usr/bin/env bash
# Examples build against an installed copy that only pkg-config finds, with the static and with the shared library, and programs
# start as `make install` says. `make uninstall` removes all that was installed.
. "$(dirname "$0")/common.sh"

staged=$tmp/staged
prefix=/opt/podrank
quietly make -s --no-print-directory install DESTDIR="$staged" PREFIX="$prefix"

abi=$(sed -n 's/^#define PODRANK_ABI //p' include/podrank.h)
installed=$(cd "$staged" && find . ! -type d | sort | paste -sd' ')
expected="./opt/podrank/include/podrank.h $(printf "./opt/podrank/%s " include/podrank/*.h)./opt/podrank/lib/libpodrank.a ./opt/podrank/lib/libpodrank.so"
expected="$expected ./opt/podrank/lib/libpodrank.so.$abi ./opt/podrank/lib/pkgconfig/podrank.pc"
[ "$installed" = "$expected" ] || fail "installed $installed, expected $expected"

export PKG_CONFIG_LIBDIR=$staged$prefix/lib/pkgconfig PKG_CONFIG_SYSROOT_DIR=$staged
quietly "$PKG_CONFIG" --validate podrank
version=$("$PKG_CONFIG" --modversion podrank)
! grep -n '@' "$PKG_CONFIG_LIBDIR/podrank.pc" >&2 || fail "podrank.pc has a place that was not filled in"
[ "$version" = "$(sed -n '/^\[workspace.package\]/,/^version/s/^version = "\(.*\)"/\1/p' Cargo.toml)" ] ||
    fail "podrank.pc is of version $version, and Cargo.toml is not"
flags=$("$PKG_CONFIG" --cflags podrank)
libraries=$("$PKG_CONFIG" --libs podrank)

cat >"$tmp/version.c" <<'C'
#include <podrank.h>
#include <stdio.h>
#include <string.h>
int main(void) {
    char parts[64];
    sprintf(parts, "%d.%d.%d", PODRANK_VERSION_MAJOR, PODRANK_VERSION_MINOR, PODRANK_VERSION_PATCH);
    if (strcmp(PODRANK_VERSION, podrank_version()) != 0 || strncmp(PODRANK_VERSION, parts, strlen(parts)) != 0)
        return 1;
    return puts(podrank_version()) < 0;
}
C
# build KIND LIBRARIES LIBRARY_PATH
build() {
    cp examples-c/victims.c examples-c/pods.cpp "$tmp"
    quietly $CC -std=c99 $strict $flags "$tmp/victims.c" $2 -o "$tmp/victims-$1"
    quietly $CC -std=c99 $strict $flags "$tmp/version.c" $2 -o "$tmp/version-$1"
    quietly $CXX -std=c++11 $strict $flags "$tmp/pods.cpp" $2 -o "$tmp/pods-$1"
    for example in victims pods; do
        LD_LIBRARY_PATH=$3 "$tmp/$example-$1" >"$tmp/printed" || fail "$example, $1"
        diff "examples-c/expected/$example.txt" "$tmp/printed" >&2 || fail "$example, $1, prints something else"
    done
    [ "$(LD_LIBRARY_PATH=$3 "$tmp/version-$1")" = "$version" ] || fail "the library or its header is not of version $version"
}
build shared "$libraries" "$staged$prefix/lib"
"$READELF" -dW "$tmp/victims-shared" | grep -q "NEEDED.*\[libpodrank\.so\.$abi\]" ||
    fail "the program does not ask for libpodrank.so.$abi"
build static "-Wl,-Bstatic $("$PKG_CONFIG" --static --libs podrank) -Wl,-Bdynamic" ""
! ${NM:-nm} "$tmp/victims-static" | grep -q podrank_steer || fail "a static program has functions that it does not call"
! "$READELF" -dW "$tmp/victims-static" | grep -q libpodrank || fail "the program linked statically asks for libpodrank"

quietly make -s --no-print-directory uninstall DESTDIR="$staged" PREFIX="$prefix"
[ -z "$(find "$staged" ! -type d)" ] || fail "make uninstall leaves $(find "$staged" ! -type d)"

# Outside a package, for a directory that the loader does not search: `make install` says what to do, and that works.
unset PKG_CONFIG_SYSROOT_DIR
prefix=$tmp/prefix
export PKG_CONFIG_LIBDIR=$prefix/lib/pkgconfig
# Not the machine's own cache.
cat >"$tmp/ldconfig" <<SH
#!/bin/sh
echo "\$*" >>"$tmp/calls"
[ "\$1" != -p ] || cat "$tmp/cache"
SH
chmod +x "$tmp/ldconfig"
: >"$tmp/cache"
installs() {
    : >"$tmp/calls"
    make -s --no-print-directory "$1" PREFIX="$prefix" LDCONFIG="$tmp/ldconfig" >"$tmp/said" 2>&1 || fail "make $1"
    [ "$(id -u)" != 0 ] || grep -qx '' "$tmp/calls" || fail "make $1 as root does not run ldconfig"
}
installs install
grep -q -- "-Wl,-rpath,$prefix/lib or statically with $prefix/lib/libpodrank.a" "$tmp/said" ||
    fail "make install does not say how to link"
quietly $CC "$tmp/version.c" $("$PKG_CONFIG" --cflags --libs podrank) "-Wl,-rpath,$prefix/lib" -o "$tmp/with-rpath"
quietly $CC "$tmp/version.c" $("$PKG_CONFIG" --cflags podrank) "$prefix/lib/libpodrank.a" -o "$tmp/with-archive"
for program in with-rpath with-archive; do
    [ "$("$tmp/$program")" = "$version" ] || fail "$program does not start"
done
echo "	libpodrank.so.$abi (libc6,x86-64) => $prefix/lib/libpodrank.so.$abi" >"$tmp/cache"
installs install
[ ! -s "$tmp/said" ] || fail "make install says something although the loader finds the library: $(cat "$tmp/said")"
installs uninstall
[ -z "$(find "$prefix" ! -type d)" ] || fail "make uninstall leaves $(find "$prefix" ! -type d)"
ok "podrank.pc $version, static and shared"
