#!/usr/bin/env bash
# Builds a program with what Conan's recipe makes, static and shared, and with what vcpkg's port makes: for vcpkg, which is not at
# hand, by the calls of CMake that its port asks for. Needs conan in the PATH, and a checkout without changes.
set -euo pipefail
cd "$(dirname "$0")/../.."
checkout=$PWD
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
export CONAN_HOME=$tmp/conan
version=$(sed -n '/^\[workspace.package\]/,/^version/s/^version = "\(.*\)"/\1/p' Cargo.toml)
mkdir "$tmp/program"
cp examples-c/victims.c "$tmp/program"
cat >"$tmp/program/CMakeLists.txt" <<END
cmake_minimum_required(VERSION 3.18)
project(try LANGUAGES C)
find_package(podrank CONFIG REQUIRED)
add_executable(victims victims.c)
target_link_libraries(victims PRIVATE podrank::podrank)
END
quietly() { "$@" >"$tmp/output" 2>&1 || { cat "$tmp/output" >&2; echo "recipes: FAILED: $*" >&2; exit 1; }; }
# builds NAME SHARED OPTION...: and the program asks for the shared library if it is SHARED.
builds() {
    local build=$tmp/$1-$2 needed=OFF
    quietly cmake -S "$tmp/program" -B "$build" -DCMAKE_BUILD_TYPE=Release "${@:3}"
    quietly cmake --build "$build"
    "$build/victims" | diff "$checkout/examples-c/expected/victims.txt" -
    ! readelf -d "$build/victims" | grep -q 'NEEDED.*libpodrank' || needed=ON
    [ "$needed" = "$2" ] || { echo "recipes: FAILED: $1: the program is not linked as SHARED=$2 says" >&2; exit 1; }
}

quietly conan profile detect
for shared in OFF ON; do
    option="podrank/*:shared=$([ $shared = ON ] && echo True || echo False)"
    quietly conan create ffi/packaging/conan -o "$option"
    # Not in the checkout, where Conan would write presets beside CMakeLists.txt.
    quietly env -C "$tmp" conan install --requires="podrank/$version" -o "$option" -g CMakeToolchain -g CMakeDeps --output-folder "$tmp/found-$shared"
    builds conan $shared "-DCMAKE_TOOLCHAIN_FILE=$tmp/found-$shared/conan_toolchain.cmake"
done

port=ffi/packaging/vcpkg/podrank
python3 -c 'import json, sys
port = json.load(open(sys.argv[1]))
assert (port["name"], port["version"], port["license"]) == ("podrank", sys.argv[2], "Apache-2.0"), port
assert all(dependency["host"] for dependency in port["dependencies"]), port' $port/vcpkg.json "$version"
options=$(sed -n 's/.* OPTIONS \(.*\))/\1/p' $port/portfile.cmake)
[ -n "$options" ]
for shared in OFF ON; do
    # shellcheck disable=SC2086 # one word for each option
    quietly cmake -S . -B "$tmp/port" -DBUILD_SHARED_LIBS=$shared -DCMAKE_BUILD_TYPE=Release -DCMAKE_INSTALL_LIBDIR:STRING=lib \
        -DCMAKE_INSTALL_BINDIR:STRING=bin "-DCMAKE_INSTALL_PREFIX=$tmp/vcpkg-$shared/installed" $options
    quietly cmake --build "$tmp/port" --target install
    builds vcpkg $shared "-DCMAKE_PREFIX_PATH=$tmp/vcpkg-$shared/installed"
done
echo "recipes: ok: Conan and the steps of vcpkg's port, static and shared"
