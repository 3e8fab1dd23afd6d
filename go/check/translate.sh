#!/usr/bin/env bash
# The Go code of the translated engine names the SHA-256 of the WebAssembly that it was made of. The sources here must make the
# same WebAssembly, if the compiler is the one that is recorded beside the archives. With another compiler, the bytes differ:
# then the tests of internal/engine alone compare the translation, by its answers, with libpodrank.
#
# Rust's core is built from source, too, so that the bytes are the same with rustup and without it: ffi/targets/rust-src.sh gets
# the source.
#
# With --write: makes the code. It needs wasm2go, from WASM2GO or the PATH:
#
#   git clone https://github.com/ncruces/wasm2go && cd wasm2go && git checkout 8f3cc40 && go build
. "$(dirname "$0")/common.sh"

target=wasm32-unknown-unknown
code=internal/translated/wasm/wasm.go
compiler=$(compiler)
[ "${1:-}" = --write ] || use_recorded
if [ "${1:-}" != --write ] && [ "$compiler" != "$recorded" ]; then
    echo "$check: SKIPPED: this is $compiler, which makes other WebAssembly than the recorded $recorded"
    exit
fi
CARGO_TARGET_DIR=$(cd .. && realpath -m "${CARGO_TARGET_DIR:-target}")
export CARGO_TARGET_DIR
source=$(../ffi/targets/rust-src.sh) || fail "there is no source of Rust's core: rustup component add rust-src"
# Of its own: cargo gives the module of ffi/targets/wasm.sh the same name.
CARGO_TARGET_DIR=$CARGO_TARGET_DIR/translate
# The stack of 64 KiB is far more than ffi/targets/budget.sh computes. Small code suits the translation, as Go's compiler inlines
# what is left. Core is optimised as in a release.
quietly env RUSTC_BOOTSTRAP=1 __CARGO_TESTS_ONLY_SRC_ROOT="$source/library" CARGO_PROFILE_ARCHIVE_OPT_LEVEL=s \
    "${CARGO:-cargo}" -Zbuild-std=core --config profile.archive.package.core.opt-level=3 \
    --config profile.archive.package.compiler_builtins.opt-level=3 rustc --quiet --manifest-path ../Cargo.toml \
    --profile archive -p podrank-archive --target "$target" --crate-type cdylib -- -Cstrip=symbols -Clink-arg=-zstack-size=65536
wasm=$CARGO_TARGET_DIR/$target/archive/podrank.wasm
sum=$(sha256sum <"$wasm" | cut -d' ' -f1)

if [ "${1:-}" = --write ]; then
    tool=${WASM2GO:-wasm2go}
    command -v "$tool" >/dev/null || fail "there is no $tool: say where with WASM2GO; $0 says how to get it"
    # The same wasm gives the same bytes each time.
    "$tool" -unsafe -pkg wasm <"$wasm" >"$tmp/wasm.go"
    mkdir -p "$(dirname "$code")"
    {
        sed -n 1p "$tmp/wasm.go"
        echo
        echo "// Package wasm is podrank's C ABI, compiled to WebAssembly and from that to Go: \`make -C go translate\` makes it."
        echo "// The SHA-256 of the wasm is $sum."
        echo "// The helpers at its end are wasm2go's: see LICENSE.wasm2go."
        sed '1,2d' "$tmp/wasm.go"
    } >"$code"
    "${GO}" vet "./$(dirname "$code")"
    ok "wrote $code"
    exit
fi
grep -qF "// The SHA-256 of the wasm is $sum." "$code" || fail "the sources make another wasm: make -C go translate"
ok "it is what $compiler makes"
