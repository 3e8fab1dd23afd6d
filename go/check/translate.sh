#!/usr/bin/env bash
# The Go code of the translated engine is made of the WebAssembly that the sources here make, by the compiler that is recorded
# beside the archives: it names the wasm's SHA-256. Where another compiler or core makes the wasm, the bytes differ, and
# nothing is compared.
#
# With --write: makes the code. It needs wasm2go, from WASM2GO or the PATH:
#
#   git clone https://github.com/ncruces/wasm2go && cd wasm2go && git checkout 8f3cc40 && go build
#
# The target comes with rustup (rustup target add wasm32-unknown-unknown).
. "$(dirname "$0")/common.sh"

target=wasm32-unknown-unknown
code=internal/translated/wasm/wasm.go
compiler="$(rustc -V) on $(rustc -vV | sed -n 's/^host: //p')"
CARGO_TARGET_DIR=$(cd .. && realpath -m "${CARGO_TARGET_DIR:-target}")
export CARGO_TARGET_DIR

if [ "${1:-}" != --write ] && [ "$compiler" != "$(cat "$package/RUSTC")" ]; then
    ok "not compared, as this is $compiler and the recorded one is $(cat "$package/RUSTC")"
    exit
fi
if [ ! -d "$(rustc --print sysroot)/lib/rustlib/$target/lib" ]; then
    [ "${1:-}" != --write ] || fail "rustc has no $target: rustup target add $target"
    # From Debian's rust-src the core would be built anew, and with it other bytes.
    ok "not compared, as rustc has no $target: rustup target add $target"
    exit
fi
# The stack of 64 KiB is far more than ffi/targets/budget.sh computes. Size matters more than inlining, as Go's compiler
# inlines what is left.
quietly env CARGO_PROFILE_ARCHIVE_OPT_LEVEL=s "${CARGO:-cargo}" rustc --quiet --manifest-path ../Cargo.toml --profile archive \
    -p podrank-archive --target "$target" --crate-type cdylib -- -Cstrip=symbols -Clink-arg=-zstack-size=65536
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
