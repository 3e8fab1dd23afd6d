#!/usr/bin/env bash
# Makes the page anew and compares it with web/dist/. With the tools that made web/dist/, every byte must be the same. With
# other ones, web/dist/ must come from the same sources, and the tests run on both pages.
set -euo pipefail
cd "$(dirname "$0")/.."
made=${CARGO_TARGET_DIR:-target}/web/dist
web/build.sh "$made"
# made-from.txt: the page's hash, the sources' hash, and then the tools.
sources() { sed -n 2p "$1/made-from.txt"; }
tools() { tail -n +3 "$1/made-from.txt"; }
if [ "$(tools "$made")" = "$(tools web/dist)" ]; then
    cmp "$made/index.html" web/dist/index.html && cmp "$made/made-from.txt" web/dist/made-from.txt ||
        { echo "web/dist is not what its sources make: run make web" >&2; exit 1; }
    echo "web/dist: every byte compared with what the sources make"
else
    diff <(tools web/dist) <(tools "$made") || true
    [ "$(sources "$made")" = "$(sources web/dist)" ] ||
        { echo "web/dist is of other sources: run make web" >&2; exit 1; }
    echo "web/dist: made with other tools than those here, so the sources are compared and not the bytes"
    PAGE=$(realpath "$made/index.html") node --test web/test/*.test.mjs
fi
