#!/usr/bin/env bash
# Runs all targets on all cores, for about so many seconds in all: continuous.sh SECONDS [TARGET...]
#
# Starts from seeds/ and what corpus/ kept, keeps and minimises the corpus, adds the executions to README.md, and prints them
# with the coverage of each target. On a finding ends non-zero with the reproducer's path. `ffi` runs under
# AddressSanitizer; nothing else has unsafe code to watch.
source "$(dirname "$0")/lib.sh"
[ $# -ge 1 ] || { sed -n '2s/^# //p' "$0" >&2; exit 2; }
seconds=$1
shift
[ $# -eq 0 ] || targets=("$@")

sanitizer() { [ "$1" = ffi ] && echo address || echo none; }

cores=$(nproc)
copies=$(((cores + ${#targets[@]} - 1) / ${#targets[@]}))
jobs=$((copies * ${#targets[@]}))
# As many seconds for each job as keep all cores busy for the time asked for.
each=$((jobs > cores ? seconds * cores / jobs : seconds))
each=$((each > 0 ? each : 1))
logs=$(mktemp -d)
trap 'rm -rf "$logs"' EXIT

for target in "${targets[@]}"; do
    build "$target" "$(sanitizer "$target")"
    mkdir -p "corpus/$target"
done

job() {
    local log="$logs/$1.$2"
    fuzz "$1" "$(sanitizer "$1")" -max_total_time="$each" -timeout=60 -reload=10 "corpus/$1" "seeds/$1" >"$log" 2>&1 ||
        touch "$log.failed"
}

start=$SECONDS
for target in "${targets[@]}"; do
    for copy in $(seq "$copies"); do
        while [ "$(jobs -rp | wc -l)" -ge "$cores" ]; do wait -n; done
        job "$target" "$copy" &
    done
done
wait

printf '%-8s %12s %12s %10s %8s\n' target executions per-second coverage corpus
for target in "${targets[@]}"; do
    count=0 edges=0
    for log in "$logs/$target".+([0-9]); do
        here=$(executions "$log")
        count=$((count + ${here:-0}))
        here=$(coverage "$log")
        edges=$((${here:-0} > edges ? ${here:-0} : edges))
    done
    # The smallest inputs with the same coverage.
    new=corpus/$target.new
    mkdir -p "$new"
    if fuzz "$target" "$(sanitizer "$target")" -merge=1 "$new" "corpus/$target" "seeds/$target" >"$logs/merge" 2>&1; then
        rm -r "corpus/$target" && mv "$new" "corpus/$target"
    else
        rm -r "$new"
    fi
    kept=(corpus/"$target"/*)
    printf '%-8s %12d %12d %10d %8d\n' "$target" "$count" $((count / (copies * each))) "$edges" ${#kept[@]}
    # The running total.
    was=$(sed -n "s/^| \`$target\` | \([0-9]*\) |$/\1/p" README.md)
    sed -i "s/^| \`$target\` | [0-9]* |$/| \`$target\` | $((was + count)) |/" README.md
done
total=$(sed -n 's/^| `[a-z]*` | \([0-9]*\) |$/\1/p' README.md | awk '{ sum += $1 } END { printf "%d", sum }')
sed -i "s/^| all | [0-9]* |$/| all | $total |/" README.md
echo "$((SECONDS - start)) s; $total executions in all, ever"

found=0
for failed in "$logs"/*.failed; do
    log=${failed%.failed}
    grep -E -A 3 -m 1 'panicked at|ERROR: ' "$log" || tail -n 5 "$log"
    reproducer=$(sed -n 's/.*Test unit written to //p' "$log")
    echo "FOUND: fuzz/${reproducer:-, no reproducer written: see above}"
    found=1
done
exit "$found"
