#!/usr/bin/env bash
# The header copy is include/podrank.h. The checked-in archives hold one object each and are, byte for byte, what the sources
# here make, if made as recorded: with that compiler, and with the release's core. Else this machine's has to pass the module's
# tests instead, and in CI, the check fails.
#
# With --write: makes the archives and records the compiler.
#
# The other machine's target comes with rustup (rustup target add). Without it, Rust's core is built from source, which
# ffi/targets/rust-src.sh gets.
. "$(dirname "$0")/common.sh"

compiler=$(compiler)
[ "${1:-}" = --write ] || use_recorded
# A relative path is relative to the checkout.
CARGO_TARGET_DIR=$(cd .. && realpath -m "${CARGO_TARGET_DIR:-target}")
export CARGO_TARGET_DIR
unset TARGET OUT

# build GOARCH MACHINE: $tmp/libpodrank_linux_GOARCH.a
foreign=""
build() {
    local target=$2-unknown-linux-gnu cargo=${CARGO:-cargo} ar=$2-linux-gnu-ar
    command -v "$ar" >/dev/null || { [ "$(uname -m)" = "$2" ] && ar=ar; } || fail "there is no $ar: apt-get install binutils-${2//_/-}-linux-gnu"
    if [ ! -d "$(rustc --print sysroot)/lib/rustlib/$target/lib" ]; then
        rust_src=$(../ffi/targets/rust-src.sh) || fail "rustc has no $target: rustup target add $target"
        # Built from source, core is compiled by this project's settings and not by those of the release.
        cargo="env RUSTC_BOOTSTRAP=1 __CARGO_TESTS_ONLY_SRC_ROOT=$rust_src/library $cargo -Zbuild-std=core"
        foreign="$foreign $1"
    fi
    local archive=$CARGO_TARGET_DIR/$target/c/libpodrank.a
    quietly make -s -C .. "$archive" TARGET="$target" AR="$ar" CARGO="$cargo"
    cp "$archive" "$tmp/libpodrank_linux_$1.a"
    [ "$("$ar" t "$archive")" = podrank.o ] || fail "$archive holds not podrank.o alone"
}

if [ "${1:-}" = --write ]; then
    build amd64 x86_64
    build arm64 aarch64
    [ -z "$foreign" ] || fail "core for$foreign is not the release's: record archives where rustup has both targets"
    cp "$tmp"/libpodrank_linux_*.a "$package"
    ../ffi/headers/make.py --flat "$package/podrank.h"
    echo "$compiler" >"$package/RUSTC"
    ok "wrote $package"
    exit
fi

../ffi/headers/make.py --flat "$tmp/podrank.h"
cmp "$tmp/podrank.h" "$package/podrank.h" >&2 || fail "the header copy is another: make -C go archives"
build amd64 x86_64
build arm64 aarch64
for arch in amd64 arm64; do
    archive=libpodrank_linux_$arch.a
    if [ "$compiler" != "$recorded" ]; then
        other="this is $compiler and the recorded one is $recorded"
    elif [[ "$foreign " = *" $arch "* ]]; then
        other="its core is not the release's but from $rust_src"
    else
        cmp "$tmp/$archive" "$package/$archive" >&2 || fail "the sources make another archive: make -C go archives"
        echo "$check: $arch is what $compiler makes"
        continue
    fi
    passes=""
    if [ "$("$GO" env GOARCH)" = "$arch" ]; then
        # The tests see what would be checked in.
        cp -R "$module" "$tmp/module"
        mkdir -p "$tmp/tests" && cp -R ../tests/vectors "$tmp/tests/vectors"
        cp "$tmp/$archive" "$tmp/module/$package"
        (cd "$tmp/module" && quietly "$GO" test -count=1 . ./internal/engine)
        passes="; it passes the tests"
    fi
    not_compared "$other"
    echo "$check: SKIPPED comparing $arch, as $other$passes"
done
ok
