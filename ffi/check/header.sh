#!/usr/bin/env bash
# The checked-in header is what cbindgen makes from ffi/. It compiles without a warning, included once and twice, in every C
# and C++ standard that the compilers here support. Each assertion on the layout is effective: with another number, the
# header does not compile.
. "$(dirname "$0")/common.sh"

quietly make -s header HEADER="$tmp/made.h"
diff -u include/podrank.h "$tmp/made.h" >"$tmp/diff" || {
    cat "$tmp/diff" >&2
    fail "include/podrank.h is not what ffi/ makes: make header"
}

echo '#include "podrank.h"' >"$tmp/alone"
cat >"$tmp/twice" <<'C'
#include "podrank.h"
#include "podrank.h"
int use(void);
int use(void) {
    podrank_pod pod = PODRANK_POD_INIT;
    podrank_options options = PODRANK_OPTIONS_INIT, at_5 = PODRANK_OPTIONS_AT(5);
    uint8_t key[PODRANK_KEY_LEN];
    PODRANK_REQUIRE_ABI();
    return at_5.now == 5 && podrank_key(&pod, &options, key) == PODRANK_OK && pod.ready_time == PODRANK_TIME_UNSET;
}
C
for file in alone twice; do
    cp "$tmp/$file" "$tmp/$file.c"
    cp "$tmp/$file" "$tmp/$file.cpp"
done

# compiles COMPILER STANDARD FILE [INCLUDE]
compiles() {
    "$1" -std="$2" $strict -Wconversion -Wshadow -Wredundant-decls -I"${4:-include}" -fsyntax-only "$3" >"$tmp/output" 2>&1
}

echo 'extern int nothing;' >"$tmp/nothing.c"

done=""
for compiler in gcc g++ clang clang++; do
    command -v "$compiler" >/dev/null || continue
    case $compiler in
    *++) language=cpp standards="c++11 c++20" ;;
    *) language=c standards="c99 c11 c2x" ;;
    esac
    for standard in $standards; do
        # C23 is for the compilers that have it.
        [ "$standard" != c2x ] || compiles "$compiler" c2x "$tmp/nothing.c" || continue
        for file in alone twice; do
            compiles "$compiler" "$standard" "$tmp/$file.$language" ||
                { cat "$tmp/output" >&2; fail "$compiler -std=$standard, included $file"; }
        done
        done="$done $compiler-$standard"
    done
done
[ -n "$done" ] || fail "no compiler found"

mkdir "$tmp/wrong"
asserted=0
for line in $(grep -n '^PODRANK_ASSERT(.* == ' include/podrank.h | cut -d: -f1); do
    sed "${line}s/ == / == 1 + /" include/podrank.h >"$tmp/wrong/podrank.h"
    for tongue in "gcc c11 c" "g++ c++11 cpp"; do
        set -- $tongue
        command -v "$1" >/dev/null || continue
        ! compiles "$1" "$2" "$tmp/alone.$3" "$tmp/wrong" ||
            fail "$1 accepts a wrong number: $(sed -n "${line}p" "$tmp/wrong/podrank.h")"
    done
    asserted=$((asserted + 1))
done
[ "$asserted" -ge 16 ] || fail "only $asserted assertions on the layout"
ok "$asserted assertions;$done"
