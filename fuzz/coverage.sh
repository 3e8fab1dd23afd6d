#!/usr/bin/env bash
# Prints the lines in core that the committed seeds reach. Exits non-zero below 95 %. Needs cargo-tarpaulin.
set -euo pipefail
cd "$(dirname "$0")/.."
command -v cargo-tarpaulin >/dev/null || { echo "needs cargo-tarpaulin: cargo install --locked cargo-tarpaulin" >&2; exit 2; }
target_dir=$(realpath -m "${CARGO_TARGET_DIR:-fuzz/target}")/coverage

cargo tarpaulin --engine llvm --package podrank-fuzz --test replay --include-files 'core/src/*' --skip-clean \
    --target-dir "$target_dir" --out stdout --fail-under 95 -- seeds
