#!/usr/bin/env bash
# Runs all targets, or those named, on all cores for about SECONDS in total: continuous.sh SECONDS [TARGET...]
#
# It starts from seeds/ and from the corpus of earlier runs, and keeps a minimised corpus. It prints the executions and the
# coverage of each target, and adds the executions to the totals that totals.sh keeps outside the checkout. On a finding, it
# prints the path of the reproducer and exits non-zero. `ffi` runs under AddressSanitizer. The other targets have no unsafe
# code to check.
source "$(dirname "$0")/lib.sh"
[ $# -ge 1 ] || { sed -n '2s/^# //p' "$0" >&2; exit 2; }
seconds=$1
shift
[ $# -eq 0 ] || targets=("$@")

sanitizer() { [ "$1" = ffi ] && echo address || echo none; }

cores=$(nproc)
copies=$(((cores + ${#targets[@]} - 1) / ${#targets[@]}))
jobs=$((copies * ${#targets[@]}))
# Each job runs for as many seconds as keep all cores busy for SECONDS.
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
    ./totals.sh --add "$target" "$count"
done
echo "$((SECONDS - start)) s"

found=0
for failed in "$logs"/*.failed; do
    log=${failed%.failed}
    grep -E -A 3 -m 1 'panicked at|ERROR: ' "$log" || tail -n 5 "$log"
    reproducer=$(sed -n 's/.*Test unit written to //p' "$log")
    echo "FOUND: fuzz/${reproducer:-, no reproducer written: see above}"
    found=1
done
exit "$found"
