#!/usr/bin/env bash
# The program builds and starts on the other architecture of the image, with the compiler that the Containerfile installs, in an
# emulator. Needs Debian's gcc-aarch64-linux-gnu, libc6-dev-arm64-cross and qemu-user.
set -euo pipefail
cd "$(dirname "$0")/.."
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
GOARCH=arm64 make --no-print-directory -s build CC=aarch64-linux-gnu-gcc ENGINE=libpodrank BIN="$dir/podrank-webhook"
version=$(sed -n '/^\[workspace.package\]/,/^version/s/^version = "\(.*\)"/\1/p' ../Cargo.toml)
said=$(qemu-aarch64 "$dir/podrank-webhook" --version 2>&1 || true)
[ "$said" = "$version libpodrank" ] || { echo "arm64: it says: $said, not $version libpodrank" >&2; exit 1; }
echo "arm64: ok"
