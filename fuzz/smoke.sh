#!/usr/bin/env bash
# Every target for a few seconds (3, or as many as the argument says) from its seeds; its random choices are fixed. For the test
# command: says how many passed; on a finding ends non-zero and names the reproducer.
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
    echo "$target: $(executions "$scratch/log") executions, coverage $(coverage "$scratch/log")"
    passed=$((passed + 1))
done
echo "$passed passed"
