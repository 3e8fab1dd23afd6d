#!/usr/bin/env bash
# Builds and runs examples with an installed or unpacked copy of the library, as its users do: through pkg-config and through CMake's
# find_package, static and shared, in C and, unless CXX is empty, in C++.
#
#     ffi/check/uses.sh PREFIX [LIB]      LIB is the directory of the libraries in PREFIX: lib, unless another is given
#
# CC, CXX and READELF may be those for another machine, on which RUN then runs a program. On macOS and Windows, this tries CMake alone.
set -euo pipefail
checkout=$(cd "$(dirname "$0")/../.." && pwd)
prefix=$(realpath "$1") lib=$(realpath "$1")/${2:-lib}
: "${CC:=cc}" "${CXX=c++}" "${READELF:=readelf}" "${PKG_CONFIG:=pkg-config}" "${RUN:=}"
# What CMake for Windows, which does not know the paths of this shell, reads.
native=$prefix
! command -v cygpath >/dev/null || native=$(cygpath -m "$prefix")
os=$(uname -s)
version=$(sed -n '/^\[workspace.package\]/,/^version/s/^version = "\(.*\)"/\1/p' "$checkout/Cargo.toml")
abi=$(sed -n 's/^#define PODRANK_ABI //p' "$checkout/include/podrank.h")
strict="-Wall -Wextra -Wpedantic -Werror"
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
fail() {
    echo "uses: FAILED: $*" >&2
    exit 1
}
quietly() {
    "$@" >"$tmp/output" 2>&1 || {
        cat "$tmp/output" >&2
        fail "$*"
    }
}
programs=victims.c
[ -z "$CXX" ] || programs="$programs pods.cpp"
# A name that a command line must quote.
mkdir "$tmp/empty directory"
cd "$tmp/empty directory"
cp "$checkout"/examples-c/{victims.c,pods.cpp} .

# says HOW KIND PROGRAM: it prints what it must, and needs the library at run time only if it is shared.
says() {
    PATH=$prefix/bin:$PATH LD_LIBRARY_PATH=$lib $RUN "$3" >"$tmp/printed" || fail "$1, $2: $3"
    diff --strip-trailing-cr "$checkout/examples-c/expected/$(basename "$3").txt" "$tmp/printed" >&2 || fail "$1, $2: $3 prints something else"
    [ "$os" = Linux ] || return 0
    local needed=static
    "$READELF" -dW "$3" >"$tmp/dynamic"
    ! grep -q "NEEDED.*\[libpodrank\.so\.$abi\]" "$tmp/dynamic" || needed=shared
    [ "$needed" = "$2" ] || fail "$1: $3 is $needed, not $2"
}

! grep -rnE "@[A-Z]|/usr/local" "$lib/pkgconfig/podrank.pc" "$lib/cmake/podrank" >&2 || fail "a place was not filled in, or names a directory"
with_pkg_config() {
    # What is not in PREFIX cannot help.
    local PKG_CONFIG_LIBDIR=$lib/pkgconfig program compiler
    export PKG_CONFIG_LIBDIR
    quietly "$PKG_CONFIG" --validate podrank
    [ "$("$PKG_CONFIG" --modversion podrank)" = "$version" ] || fail "podrank.pc is not of version $version"
    for program in $programs; do
        compiler="$CC -std=c99"
        [ "${program#*.}" = c ] || compiler="$CXX -std=c++11"
        # As a shell reads a line in which the output stands: pkg-config quotes the spaces in it.
        eval "quietly $compiler $strict $program $("$PKG_CONFIG" --cflags --libs podrank) -o ${program%.*}"
        says pkg-config shared "./${program%.*}"
        eval "quietly $compiler $strict $program -Wl,-Bstatic $("$PKG_CONFIG" --static --cflags --libs podrank) -Wl,-Bdynamic -o ${program%.*}"
        says pkg-config static "./${program%.*}"
    done
}
ways=CMake
if [ "$os" = Linux ]; then
    with_pkg_config
    ways="pkg-config and CMake"
fi

{
    echo "cmake_minimum_required(VERSION 3.18)"
    echo "project(try LANGUAGES C ${CXX:+CXX})"
    # As CMake does where libraries are in lib64.
    echo "set_property(GLOBAL PROPERTY FIND_LIBRARY_USE_LIB64_PATHS TRUE)"
    echo "find_package(podrank \${ASKED} CONFIG REQUIRED \${PARTS})"
    for program in $programs; do
        echo "add_executable(${program%.*} $program)"
        echo "target_link_libraries(${program%.*} PRIVATE podrank::podrank)"
    done
} >CMakeLists.txt
# A compiler with options is a list for CMake. Elsewhere than on Linux, it knows best which compiler there is.
configure() {
    rm -rf build
    [ "$os" != Linux ] || set -- "$@" "-DCMAKE_C_COMPILER=${CC// /;}" ${CXX:+"-DCMAKE_CXX_COMPILER=${CXX// /;}"}
    # Where a generator has a folder for each configuration, the expression keeps it from using them.
    cmake -B build "-DCMAKE_PREFIX_PATH=$native" '-DCMAKE_RUNTIME_OUTPUT_DIRECTORY=bin$<0:>' "$@" >"$tmp/output" 2>&1
}
with_cmake() {
    local kind=$1 program
    shift
    configure -DASKED="${version%%.*}" "$@" || fail "CMake does not find it: $(cat "$tmp/output")"
    quietly cmake --build build --config Release
    for program in $programs; do says CMake "$kind" "build/bin/${program%.*}"; done
}
with_cmake static
with_cmake shared -DBUILD_SHARED_LIBS=ON
with_cmake static -DBUILD_SHARED_LIBS=ON "-DPARTS=COMPONENTS;static"
with_cmake shared "-DPARTS=COMPONENTS;shared"
# refuses TEXT OPTION: CMake says TEXT and goes no further.
refuses() {
    ! configure "$2" || fail "CMake takes $2"
    tr -s ' \n' ' ' <"$tmp/output" | grep -qF -- "$1" || fail "CMake does not say: $1: $(cat "$tmp/output")"
}
refuses "is what was asked for: other" "-DPARTS=COMPONENTS;other"
refuses "version: $version" -DASKED=99
echo "uses: ok: $programs, by $ways, static and shared"
