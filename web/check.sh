#!/usr/bin/env bash
# Makes the web app here and in another folder, with another CARGO_HOME and the sources of the standard library in another
# place, and compares every byte. The other CARGO_HOME has the same downloads.
set -euo pipefail
cd "$(dirname "$0")/.."
web/build.sh web/dist
other=$(realpath "$(mktemp -d)")
trap 'rm -rf "$other"' EXIT
mkdir "$other/cargo" "$other/podrank" "$other/rust"
ln -s "${CARGO_HOME:-$HOME/.cargo}"/* "$other/cargo"
cp -r "$(ffi/targets/rust-src.sh)/library" "$other/rust"
tar --exclude=./.git --exclude=node_modules --exclude=target --exclude=./web/dist -cf - . | tar -xf - -C "$other/podrank"
env -u CARGO_TARGET_DIR CARGO_HOME="$other/cargo" PODRANK_RUST_SRC="$other/rust" "$other/podrank/web/build.sh" "$other/dist"
cmp web/dist/index.html "$other/dist/index.html" ||
    { echo "The web app depends on the folder in which it was built: see RUSTFLAGS in web/build.sh." >&2; exit 1; }
echo "web app: equal bytes from two folders with two CARGO_HOMEs: ok"
