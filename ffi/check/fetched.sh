#!/usr/bin/env bash
# A program that takes the sources by CMake's FetchContent builds and runs, static and shared: CMakeLists.txt calls cargo. What
# CMakeLists.txt installs itself, for packages, is used as `make install`'s is. After `cargo fetch`, it needs no network.
. "$(dirname "$0")/common.sh"

quietly cargo fetch --locked
export CARGO_NET_OFFLINE=true
sources=$PWD
mkdir "$tmp/empty directory"
cd "$tmp/empty directory"
cp "$sources/examples-c/pods.cpp" .
cat >CMakeLists.txt <<END
cmake_minimum_required(VERSION 3.18)
project(try LANGUAGES CXX)
include(FetchContent)
FetchContent_Declare(podrank SOURCE_DIR "$sources")
FetchContent_MakeAvailable(podrank)
add_executable(pods pods.cpp)
target_link_libraries(pods PRIVATE podrank::podrank)
END
for shared in OFF ON; do
    quietly cmake -B build -DBUILD_SHARED_LIBS=$shared
    quietly cmake --build build
    build/pods >"$tmp/printed" || fail "BUILD_SHARED_LIBS=$shared"
    diff "$sources/examples-c/expected/pods.txt" "$tmp/printed" >&2 || fail "BUILD_SHARED_LIBS=$shared: pods prints something else"
    quietly cmake -S "$sources" -B "$tmp/package" -DBUILD_SHARED_LIBS=$shared -DCMAKE_INSTALL_LIBDIR=lib
    quietly cmake --build "$tmp/package"
    quietly cmake --install "$tmp/package" --prefix "$tmp/installed to"
done
quietly "$sources/ffi/check/uses.sh" "$tmp/installed to"
ok "by FetchContent, and as CMakeLists.txt installs it"
