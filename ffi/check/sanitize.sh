#!/usr/bin/env bash
# The examples and the vectors run clean under AddressSanitizer and UndefinedBehaviorSanitizer, which watch the C side, and
# under valgrind, which watches the library as well. Nothing leaks.
. "$(dirname "$0")/common.sh"

command -v valgrind >/dev/null || fail "valgrind is not installed"
quietly make -s table
library=$(realpath "$archive")
vectors="-std=c99 $strict -DPODRANK_VECTORS_MAIN -Iinclude -I$OUT ffi/check/vectors.c $archive"
sanitizers="-O1 -g -fno-omit-frame-pointer -fsanitize=address,undefined -fno-sanitize-recover=all"
watch="valgrind --quiet --error-exitcode=99 --leak-check=full --show-leak-kinds=all --errors-for-leak-kinds=all"

quietly make -s -C examples-c run LIBRARY="$library" BIN="$tmp/sanitized" CFLAGS="$sanitizers" CXXFLAGS="$sanitizers"
quietly $CC $sanitizers $vectors -o "$tmp/vectors-sanitized"
quietly "$tmp/vectors-sanitized"

quietly make -s -C examples-c run LIBRARY="$library" BIN="$tmp/plain" CFLAGS="-O1 -g" CXXFLAGS="-O1 -g" RUN="$watch"
quietly $CC -O1 -g $vectors -o "$tmp/vectors-plain"
quietly $watch "$tmp/vectors-plain"
ok "examples and vectors, with address and undefined behaviour sanitizers and with valgrind"
