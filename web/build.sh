#!/usr/bin/env bash
# Makes the page: the module with cargo and wasm-bindgen, the rest with web/build.mjs. `web/build.sh DIRECTORY` puts it there.
#
# The standard library is built from source, because not every Rust has it for WebAssembly, and so that all that have this
# release of Rust make the same bytes. Paths and places in the source are left out for the same reason.
set -euo pipefail
cd "$(dirname "$0")/.."
output=$(realpath -m "$1")
target=$(realpath -m "${CARGO_TARGET_DIR:-target}")

rust_src=$(ffi/targets/rust-src.sh)
home=${CARGO_HOME:-$HOME/.cargo}
export RUSTC_BOOTSTRAP=1 __CARGO_TESTS_ONLY_SRC_ROOT=$rust_src/library
export RUSTFLAGS="-Zlocation-detail=none --remap-path-prefix=$PWD=. --remap-path-prefix=$home=cargo \
--remap-path-prefix=$rust_src=rust"
cargo build --quiet --profile web --package podrank-web --target wasm32-unknown-unknown \
    -Zbuild-std=std,panic_abort -Zbuild-std-features=
unset RUSTC_BOOTSTRAP RUSTFLAGS __CARGO_TESTS_ONLY_SRC_ROOT

cargo build --quiet --release --manifest-path web/bindgen/Cargo.toml --target-dir "$target/bindgen"
mkdir -p "$target/web"
"$target/bindgen/release/podrank-web-bindgen" "$target/wasm32-unknown-unknown/web/podrank_web.wasm" "$target/web"

[ web/node_modules/.package-lock.json -nt web/package-lock.json ] || (cd web && npm ci --silent --ignore-scripts)
node web/build.mjs "$target/web" "$output"
