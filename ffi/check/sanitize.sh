#!/usr/bin/env bash
# The examples and the vectors run clean under AddressSanitizer and UndefinedBehaviorSanitizer, which watch the C side, and
# under valgrind, which watches the library as well. Nothing leaks. People copy the examples and change them, so copies with other
# numbers run clean, too.
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

# sanitized NAME SOURCE [OPTION...]: compiles a program and runs it.
sanitized() {
    quietly $CC -std=c99 -Wall -Wextra -Werror $sanitizers -Iinclude -Iexamples-c "${@:3}" "$2" "$archive" -o "$tmp/$1"
    quietly "$tmp/$1"
}
# changed EXAMPLE SCRIPT: runs a copy of an example that the sed script changes.
changed() {
    sed "$2" "examples-c/$1.c" >"$tmp/$1.c"
    ! cmp -s "examples-c/$1.c" "$tmp/$1.c" || fail "examples-c/$1.c has nothing that $2 changes"
    sanitized "$1-changed" "$tmp/$1.c"
}
sanitized agent ffi/check/agent.c
sanitized steer-uids ffi/check/uids.c '-DEXAMPLE="steer.c"'
sanitized sorted_store-uids ffi/check/uids.c '-DEXAMPLE="sorted_store.c"'
# The caller selects more pods than there are. A library has a phase that its user doesn't know. More pods are
# unsteerable than the buffer holds. A name in a file has no end.
changed victims 's/WANTED = 2/WANTED = 9/'
changed explain 's/{ "Pending", "Unknown", "Running" }/{ "Pending", "Unknown" }/'
changed steer 's/unsteerable\[COUNT(set)\]/unsteerable[1]/; s/"web-1", "reserved-1", 1/"web-1", "reserved-1", 0/'
changed sorted_store "s/strncpy(entries.*/memset(entries[i].name, 'x', sizeof entries[i].name);/"

quietly make -s -C examples-c run LIBRARY="$library" BIN="$tmp/plain" CFLAGS="-O1 -g" CXXFLAGS="-O1 -g" RUN="$watch"
quietly $CC -O1 -g $vectors -o "$tmp/vectors-plain"
quietly $watch "$tmp/vectors-plain"
quietly $CC -O1 -g -Iinclude ffi/check/agent.c "$archive" -o "$tmp/agent-plain"
quietly $watch "$tmp/agent-plain"
ok "examples and vectors, with address and undefined behaviour sanitizers and with valgrind"
