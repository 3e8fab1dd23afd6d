#!/usr/bin/env bash
# Checks that instructions.txt has these cases, and that each takes at most 5% more instructions than it says, if the
# compiler and machine are those named there. With another compiler or machine, only prints the differences. With
# --write, updates the table. Needs valgrind.
set -euo pipefail
export LC_ALL=C
cd "$(dirname "$0")/.."
: "${CARGO:=cargo}" "${CARGO_TARGET_DIR:=target}"
table=bench/instructions.txt
percent=5

tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

fail() {
    echo "instructions: FAILED: $*" >&2
    exit 1
}

# count: a line for each case, instructions first.
count() {
    $CARGO build --quiet --profile dist -p podrank-bench --bin cases
    # A dump for each case, in their order. Of two options with one pattern callgrind forgets the first.
    valgrind --tool=callgrind --callgrind-out-file="$tmp/dump" --toggle-collect='*::counted_case' \
        --dump-after='cases::counted_case' "$CARGO_TARGET_DIR/dist/cases" >"$tmp/names" 2>"$tmp/log" ||
        { cat "$tmp/log" >&2; fail "callgrind"; }
    local number=0 name instructions
    while read -r name; do
        number=$((number + 1))
        instructions=$(sed -n 's/^totals: //p' "$tmp/dump.$number") && [ "$instructions" -gt 0 ] || fail "$name was not counted"
        printf '%9d  %s\n' "$instructions" "$name"
    done <"$tmp/names"
}

compiler=$(rustc -V) machine=$(uname -m)
count >"$tmp/counts"
grep -q . "$tmp/counts" || fail "no case was counted"
{
    echo "# Instructions of each case, counted by callgrind: bench/instructions.sh --write"
    echo "# $compiler, $machine"
    cat "$tmp/counts"
} >"$tmp/table"

if [ "${1:-}" = --write ]; then
    cp "$tmp/table" "$table"
    cat "$table"
    exit
fi

# Each case that is new, gone or changed, and how many grew too much.
awk -v percent="$percent" '
    /^#/ { next }
    { count = $1; sub(/^ *[0-9]+  /, "") }
    NR == FNR { was[$0] = count; next }
    !($0 in was) { printf "%9s -> %9d          %s\n", "-", count, $0; other++; next }
    was[$0] != count { printf "%9d -> %9d %+6.1f %%  %s\n", was[$0], count, 100 * (count / was[$0] - 1), $0 }
    count > was[$0] * (1 + percent / 100) { wrong++ }
    { delete was[$0] }
    END { for (name in was) { printf "%9d -> %9s          %s\n", was[name], "-", name; other++ } exit other ? 2 : wrong > 0 }
' "$table" "$tmp/counts" || {
    [ $? = 1 ] || fail "bench/instructions.txt has other cases: bench/instructions.sh --write"
    [ "$(sed -n 2p "$table")" != "# $compiler, $machine" ] || fail "more than $percent % above bench/instructions.txt: bench/instructions.sh --write"
    echo "instructions: SKIPPED: the table is of another compiler or machine, so only the names of its cases were compared"
    exit
}
echo "instructions: ok: $(wc -l <"$tmp/counts") cases"
