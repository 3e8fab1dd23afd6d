#!/usr/bin/env bash
# Nothing in ffi/abi.txt was removed or changed, unless PODRANK_ABI was raised (ffi/ABI.md). `make abi` (abi.sh --write) writes
# the list, and refuses to remove or change a line otherwise. The unstable part may change.
#
# The C compiler makes the list from the header, and nm from the libraries, so nobody maintains it. It is for 64-bit
# pointers. Each line is a name, a colon and what must not change.
. "$(dirname "$0")/common.sh"
list=ffi/abi.txt

# Every macro is read below, or is a function, an initialiser, an include guard, an attribute or the text of a version.
unread=$(sed -nE '/^#define [A-Z0-9_]+\(/d; s/^#define ([A-Z0-9_]+)( .*|$)/\1\2/p' "${headers[@]}" |
    grep -vE '^PODRANK_([A-Z_]*_)?H$|^PODRANK_[A-Z_]+_INIT |^PODRANK_NODISCARD|^PODRANK_(VERSION|KUBERNETES) "|^[A-Z0-9_]+ +[-A-Z0-9_]+u?$') || true
[ -z "$unread" ] || fail "a macro that is not a number: $unread"

# listed HEADER...: what these headers declare: constants, sizes, members with their types and offsets, and functions. The numbers come
# from a C program. Not PODRANK_ABI, which is the first line, nor the version, nor the reserved bytes, which may become members.
listed() {
    {
        printf '#define PODRANK_UNSTABLE\n'
        printf '#include "%s"\n' "${@#include/}"
        echo '#include <stdio.h>'
        echo 'int main(void) {'
        sed -nE 's/^#define (PODRANK_[A-Z0-9_]+) +[-A-Z0-9_]+u?$/\1/p' "$@" | sort | grep -vxE 'PODRANK_(ABI|VERSION_[A-Z]*)' |
            sed 's/.*/printf("constant &: %lld\\n", (long long)&);/'
        awk '
            /^typedef struct/ { type = $3; printf "printf(\"size %s: %%zu\\n\", sizeof(%s));\n", type, type; next }
            /^}/ { type = "" }
            type && /;$/ && !/^ *\/\// {
                sub(/^ */, ""); sub(/;$/, "")
                name = $NF; sub(/^\*/, "", name); sub(/\[.*/, "", name)
                if (name == "reserved") next
                printf "printf(\"member %s.%s: %s at %%zu, %%zu bytes\\n\", offsetof(%s, %s), sizeof(((%s *)0)->%s));\n",
                    type, name, $0, type, name, type, name
            }' "$@"
        echo 'return 0; }'
    } >"$tmp/abi.c"
    quietly $CC -std=c99 -Iinclude "$tmp/abi.c" -o "$tmp/abi"
    "$tmp/abi"
    # Each function in one line, without the names of its parameters.
    sed 's|//.*||; /^#/d' "$@" | tr '\n' ' ' | tr -s ' ' | grep -oE '[a-z][a-z0-9_ ]*[ *]+podrank_[a-z0-9_]+\([^)]*\);' |
        sed -E 's/([ *])[a-z0-9_]+([,)])/\1\2/g; s/ ([,)])/\1/g; s/.*[ *](podrank_[a-z0-9_]+)\(/function \1: &/; s/;$//' | sort
}
abi=$(sed -n 's/^#define PODRANK_ABI //p' include/podrank.h)
{
    echo "abi $abi"
    listed include/podrank.h
    echo "unstable, with PODRANK_UNSTABLE alone"
    listed include/podrank/*.h
} >"$tmp/now"

# What the libraries export is what the header declares, no more and no less.
functions >"$tmp/declared"
"$NM" -g --defined-only "$archive" | awk 'NF == 3 { print $3 }' | sort >"$tmp/exported"
diff "$tmp/declared" "$tmp/exported" >&2 || fail "the header declares (<) and the archive exports (>) different symbols"
"$NM" -D --defined-only "$shared" | awk 'NF == 3 { print $3 }' | sort >"$tmp/exported"
diff "$tmp/declared" "$tmp/exported" >&2 || fail "the header declares (<) and the shared library exports (>) different symbols"
"$READELF" -dW "$shared" | grep -q "SONAME.*\[libpodrank\.so\.$abi\]" || fail "the soname is not libpodrank.so.$abi"
grep -qx "podrank_abi_$abi" "$tmp/declared" || fail "there is no podrank_abi_$abi"
[ "$(grep -c '^function' "$tmp/now")" = "$(wc -l <"$tmp/declared")" ] || fail "not every function was read of the header"

[ -f "$list" ] || echo "abi 0" >"$tmp/none"
was=$tmp/none
[ ! -f "$list" ] || was=$list

# Options may grow: everything else stays as it was. Lines of what is gone or changed, then of what is new.
awk -F': ' '
    FNR == 1 || /^unstable/ { is_stable = FNR == 1; next }
    NR == FNR { if (is_stable) was[$1] = $2; next }
    is_stable { now[$1] = $2 }
    END {
        for (name in was)
            if (!(name in now)) print "gone: " name ": " was[name]
            else if (name == "size podrank_options" && now[name] + 0 > was[name] + 0) print "new: " name ": " now[name]
            else if (now[name] != was[name]) print "changed: " name ": was " was[name] ", is " now[name]
        for (name in now) if (!(name in was)) print "new: " name ": " now[name]
    }' "$was" "$tmp/now" | sort >"$tmp/differences"

before=$(sed -n '1s/^abi //p' "$was")
if grep -v '^new: ' "$tmp/differences" >"$tmp/breaks" && [ "$abi" -le "$before" ]; then
    cat "$tmp/breaks" >&2
    fail "programs built against ABI $before break: bring it back, or raise PODRANK_ABI (ffi/ABI.md)"
fi
[ "$abi" -ge "$before" ] || fail "PODRANK_ABI is $abi, and was $before"
if [ "${1:-}" = --write ]; then
    cp "$tmp/now" "$list"
    ok "wrote $list"
    exit
fi
[ "$abi" = "$before" ] || fail "PODRANK_ABI is $abi, and $list is that of $before: make abi"
# If something is not listed, nobody would notice its removal.
[ ! -s "$tmp/differences" ] || { cat "$tmp/differences" >&2; fail "$list lacks what is new: make abi"; }
ok "$(wc -l <"$list") lines of ABI $abi"
