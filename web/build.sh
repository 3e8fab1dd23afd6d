#!/usr/bin/env bash
# Makes the web app: the module with cargo and wasm-bindgen, the rest with web/build.mjs. `web/build.sh DIRECTORY` writes
# DIRECTORY/index.html.
#
# The standard library is built from source, because not every Rust has it for WebAssembly. The same sources and tools make the
# same bytes, in any folder and with any CARGO_HOME: web/check.sh compares them.
set -euo pipefail
cd "$(dirname "$0")/.."
output=$(realpath -m "$1")
target=$(realpath -m "${CARGO_TARGET_DIR:-target}")
rust_src=$(ffi/targets/rust-src.sh)
home=${CARGO_HOME:-$HOME/.cargo}

# Cargo identifies the crates of the standard library by their path below rustc's sysroot, or by their absolute path if they
# are elsewhere, as Debian's are. All other crates depend on them, so this path would change every symbol, and with them the
# order of the code. This sysroot has the sources, and what build scripts are linked with. RUSTFLAGS would not reach the build
# scripts of the standard library.
sysroot=$target/web/sysroot
library=$sysroot/lib/rustlib/src/rust
mkdir -p "${library%/*}"
ln -sfn "$rust_src" "$library"
host=$(rustc -vV | sed -n 's/^host: //p')
ln -sfn "$(rustc --print sysroot)/lib/rustlib/$host" "$sysroot/lib/rustlib/$host"
printf '#!/bin/sh\nexec %q --sysroot=%q "$@"\n' "$(command -v rustc)" "$sysroot" >"$target/web/rustc"
chmod +x "$target/web/rustc"

# Nothing else may depend on the folder either: no path and no position in a source file. Cargo gives rustc a path below the
# workspace as a relative one.
export RUSTC_BOOTSTRAP=1 __CARGO_TESTS_ONLY_SRC_ROOT=$library/library
export RUSTFLAGS="-Zlocation-detail=none --remap-path-prefix=$PWD=. --remap-path-prefix=$home=cargo \
--remap-path-prefix=$library=rust --remap-path-prefix=${library#"$PWD"/}=rust"
RUSTC=$target/web/rustc cargo build --quiet --profile web --package podrank-web --target wasm32-unknown-unknown \
    -Zbuild-std=std,panic_abort -Zbuild-std-features=
unset RUSTC_BOOTSTRAP RUSTFLAGS __CARGO_TESTS_ONLY_SRC_ROOT

cargo build --quiet --release --manifest-path web/bindgen/Cargo.toml --target-dir "$target/bindgen"
"$target/bindgen/release/podrank-web-bindgen" "$target/wasm32-unknown-unknown/web/podrank_web.wasm" "$target/web"

[ web/node_modules/.package-lock.json -nt web/package-lock.json ] || (cd web && npm ci --silent --ignore-scripts)
node web/build.mjs "$target/web" "$output"
