#!/usr/bin/env bash
# Examples build against an installed copy that was moved, by pkg-config and by CMake, and programs start as `make install` says.
# `make uninstall` removes all that was installed.
. "$(dirname "$0")/common.sh"

staged=$tmp/staged
prefix=/opt/podrank
quietly make -s --no-print-directory install DESTDIR="$staged" PREFIX="$prefix"

abi=$(sed -n 's/^#define PODRANK_ABI //p' include/podrank.h)
installed=$(cd "$staged" && find . ! -type d | sort | paste -sd' ')
expected="./opt/podrank/include/podrank.h $(printf "./opt/podrank/%s " include/podrank/*.h)./opt/podrank/lib/cmake/podrank/podrankConfig.cmake"
expected="$expected ./opt/podrank/lib/cmake/podrank/podrankConfigVersion.cmake ./opt/podrank/lib/libpodrank.a ./opt/podrank/lib/libpodrank.so"
expected="$expected ./opt/podrank/lib/libpodrank.so.$abi ./opt/podrank/lib/pkgconfig/podrank.pc"
[ "$installed" = "$expected" ] || fail "installed $installed, expected $expected"

mkdir "$tmp/moved to"
cp -a "$staged$prefix" "$tmp/moved to/podrank"
quietly ffi/check/uses.sh "$tmp/moved to/podrank"
# Where Debian has its libraries, and Fedora.
lib=$($CC -print-multiarch)
lib=${lib:+lib/$lib}
quietly make -s --no-print-directory install DESTDIR="$tmp/distribution" PREFIX=/usr LIBDIR="/usr/${lib:=lib64}"
quietly ffi/check/uses.sh "$tmp/distribution/usr" "$lib"

export PKG_CONFIG_LIBDIR=$staged$prefix/lib/pkgconfig
version=$("$PKG_CONFIG" --modversion podrank)
flags=$("$PKG_CONFIG" --cflags podrank)

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
quietly $CC -std=c99 $strict $flags "$tmp/version.c" -Wl,-Bstatic $("$PKG_CONFIG" --static --libs podrank) -Wl,-Bdynamic -o "$tmp/version"
[ "$("$tmp/version")" = "$version" ] || fail "the library or its header is not of version $version"
! $NM "$tmp/version" | grep -q podrank_steer || fail "a static program has functions that it does not call"

quietly make -s --no-print-directory uninstall DESTDIR="$staged" PREFIX="$prefix"
[ -z "$(find "$staged" ! -type d)" ] || fail "make uninstall leaves $(find "$staged" ! -type d)"

# Outside a package, for a directory that the loader does not search: `make install` says what to do, and that works.
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
ok "podrank.pc and podrankConfig.cmake $version, static and shared"
