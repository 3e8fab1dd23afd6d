#!/usr/bin/env bash
# The checked-in headers are what make.py makes from ffi/. They compile without a warning, each alone and all twice, in every C
# and C++ standard that the compilers here support. Each assertion on the layout is effective: with another number, the
# header does not compile.
. "$(dirname "$0")/common.sh"

quietly make -s --no-print-directory header HEADERS="$tmp/made"
diff -ru include "$tmp/made" >"$tmp/diff" || {
    cat "$tmp/diff" >&2
    fail "include/ is not what ffi/ makes: make header"
}

# Each header alone, and all of them twice.
files=twice
for header in "${headers[@]#include/}"; do
    file=alone-$(basename "$header" .h)
    printf '#define PODRANK_UNSTABLE\n#include "%s"\n' "$header" >"$tmp/$file"
    files="$files $file"
    # What may change has to be asked for.
    [ "$header" = podrank.h ] || ! $CC -Iinclude -fsyntax-only -include "$header" -xc /dev/null 2>"$tmp/output" ||
        fail "$header compiles without PODRANK_UNSTABLE"
done
echo '#define PODRANK_UNSTABLE' >"$tmp/twice"
for _ in 1 2; do printf '#include "%s"\n' "${headers[@]#include/}"; done >>"$tmp/twice"
cat >>"$tmp/twice" <<'C'
int use(void);
int use(void) {
    podrank_pod pod = PODRANK_POD_INIT;
    podrank_options options = PODRANK_OPTIONS_INIT, at_5 = PODRANK_OPTIONS_AT(5);
    uint8_t key[PODRANK_KEY_LEN];
    PODRANK_REQUIRE_ABI();
    return at_5.now == 5 && podrank_key(&pod, &options, key, sizeof key) == PODRANK_OK && pod.ready_time == PODRANK_TIME_UNSET;
}
C
for file in $files; do
    cp "$tmp/$file" "$tmp/$file.c"
    cp "$tmp/$file" "$tmp/$file.cpp"
done

# A call that ignores the status. The same with PODRANK_NODISCARD defined as nothing is silent.
cat >"$tmp/ignores.c" <<'C'
#include "podrank.h"
void use(void);
void use(void) {
    podrank_pod pod = PODRANK_POD_INIT;
    uint8_t key[PODRANK_KEY_LEN];
    podrank_key(&pod, NULL, key, sizeof key);
}
C
{ echo '#define PODRANK_NODISCARD'; cat "$tmp/ignores.c"; } >"$tmp/silent.c"
cp "$tmp/ignores.c" "$tmp/ignores.cpp"
cp "$tmp/silent.c" "$tmp/silent.cpp"

for example in victims agent sorted_store; do
    cp "examples-c/$example.c" "$tmp/$example.c"
    cp "examples-c/$example.c" "$tmp/$example.cpp"
done

# compiles COMPILER STANDARD FILE [INCLUDE]
compiles() {
    "$1" -std="$2" $strict -Wconversion -Wsign-conversion -Wshadow -Wredundant-decls -I"${4:-include}" -fsyntax-only "$3" >"$tmp/output" 2>&1
}

echo 'extern int nothing;' >"$tmp/nothing.c"

done=""
for compiler in gcc g++ clang clang++; do
    command -v "$compiler" >/dev/null || continue
    case $compiler in
    *++) language=cpp standards="c++11 c++17 c++20" ;;
    *) language=c standards="c99 c11 c17 c2x" ;;
    esac
    for standard in $standards; do
        # C23 is for the compilers that have it.
        [ "$standard" != c2x ] || compiles "$compiler" c2x "$tmp/nothing.c" || continue
        for file in $files; do
            compiles "$compiler" "$standard" "$tmp/$file.$language" ||
                { cat "$tmp/output" >&2; fail "$compiler -std=$standard, included $file"; }
        done
        # GCC warns only when it makes code.
        ! "$compiler" -std="$standard" -Werror -Iinclude -c "$tmp/ignores.$language" -o "$tmp/ignores.o" 2>"$tmp/output" ||
            fail "$compiler -std=$standard does not warn of a status that is ignored"
        grep -qE 'podrank_key|unused|ignoring' "$tmp/output" || { cat "$tmp/output" >&2; fail "$compiler -std=$standard warns of something else"; }
        quietly "$compiler" -std="$standard" -Werror -Iinclude -c "$tmp/silent.$language" -o "$tmp/ignores.o"
        # The programs that people write first. They are C, which C++17 takes, too, but C++11 does not.
        [ "$standard" = c++11 ] || for example in victims agent sorted_store; do
            compiles "$compiler" "$standard" "$tmp/$example.$language" ||
                { cat "$tmp/output" >&2; fail "$compiler -std=$standard, examples-c/$example.c"; }
        done
        done="$done $compiler-$standard"
    done
done
[ -n "$done" ] || fail "no compiler found"

asserted=0
for header in "${headers[@]#include/}"; do
    for line in $(grep -n '^PODRANK_ASSERT(.* == ' "include/$header" | cut -d: -f1); do
        rm -rf "$tmp/wrong" && cp -R include "$tmp/wrong"
        sed -i "${line}s/ == / == 1 + /" "$tmp/wrong/$header"
        for tongue in "gcc c11 c" "g++ c++11 cpp"; do
            set -- $tongue
            command -v "$1" >/dev/null || continue
            ! compiles "$1" "$2" "$tmp/twice.$3" "$tmp/wrong" ||
                fail "$1 accepts a wrong number: $(sed -n "${line}p" "$tmp/wrong/$header")"
        done
        asserted=$((asserted + 1))
    done
done
structs=$(grep -h '^typedef struct' "${headers[@]}" | wc -l)
[ "$(grep -hE '^PODRANK_ASSERT\(sizeof' "${headers[@]}" | wc -l)" = "$structs" ] || fail "a struct without assertions on its layout"
ok "$asserted assertions on $structs structs;$done"
