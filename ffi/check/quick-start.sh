#!/usr/bin/env bash
# The C program in docs/c.md compiles unchanged, has at most ten lines, and does what the page says.
. "$(dirname "$0")/common.sh"

sed -n '/^```c$/,/^```$/{/^```/d;p}' docs/c.md >"$tmp/quick-start.c"
lines=$(wc -l <"$tmp/quick-start.c")
[ "$lines" -ge 5 ] && [ "$lines" -le 10 ] || fail "$lines lines"
quietly $CC -std=c99 $strict -Iinclude "$tmp/quick-start.c" "$archive" -o "$tmp/quick-start"
quietly "$tmp/quick-start"
ok "$lines lines"
