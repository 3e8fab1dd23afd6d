#!/usr/bin/env bash
# Runs in WebAssembly, under Node: a module without imports whose memory is shared with JavaScript. It passes the vectors, read
# from their JSON, and its keys are the same as on this machine.
. "$(dirname "$0")/lib.sh"

target=wasm32-unknown-unknown
core_for $target
build() {
    quietly $CARGO rustc --quiet --profile archive -p podrank-archive --target $target --crate-type cdylib -- "$@"
}
# --no-check-features: it has no variables, so it needs no atomics to share memory.
build -Clink-arg=--shared-memory -Clink-arg=--max-memory=16777216 -Clink-arg=--no-check-features
cp "$CARGO_TARGET_DIR/$target/archive/podrank.wasm" "$tmp/shared.wasm"
build
quietly node ffi/targets/wasm.mjs "$CARGO_TARGET_DIR/$target/archive/podrank.wasm"
node ffi/targets/wasm.mjs "$tmp/shared.wasm" >"$tmp/printed" 2>"$tmp/errors" || { cat "$tmp/errors" >&2; fail "shared memory"; }
same_keys "$tmp/printed"
cases=$(cat "$tmp/errors")
[[ $cases = *", shared memory" ]] || fail "not shared: $cases"
ok "no imports; $cases, $keys keys"
