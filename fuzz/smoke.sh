#!/usr/bin/env bash
# Runs every target from its seeds for a few seconds: smoke.sh [SECONDS], 3 by default. The random choices are always the
# same. It prints the number of targets that passed. On a finding, it prints the fuzzer's log, which names the reproducer, and
# exits non-zero.
source "$(dirname "$0")/lib.sh"
seconds=${1:-3}

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
passed=0
for target in "${targets[@]}"; do
    build "$target" none >"$scratch/log" 2>&1 || { cat "$scratch/log"; exit 1; }
    mkdir "$scratch/$target"
    fuzz "$target" none -seed=1 -max_total_time="$seconds" -timeout=20 "$scratch/$target" "seeds/$target" >"$scratch/log" 2>&1 ||
        { cat "$scratch/log"; exit 1; }
    count=$(executions "$scratch/log")
    [ "${count:-0}" -gt 0 ] || { cat "$scratch/log"; echo "$target: nothing was executed"; exit 1; }
    echo "$target: $count executions, coverage $(coverage "$scratch/log")"
    passed=$((passed + 1))
done
echo "$passed passed"
