#!/usr/bin/env bash
# Replaces the seeds of all targets, or those named: seeds.sh [TARGET...]
#
# The new seeds come from the old ones and from the corpus. They are the smallest inputs of at most MAX_LEN bytes (1024 by
# default) with the same coverage.
source "$(dirname "$0")/lib.sh"
[ $# -eq 0 ] || targets=("$@")
for target in "${targets[@]}"; do
    build "$target" none
    new=$(mktemp -d -p .)
    mkdir -p "corpus/$target" "seeds/$target"
    fuzz "$target" none -set_cover_merge=1 -use_counters=0 -max_len="${MAX_LEN:-1024}" "$new" "seeds/$target" "corpus/$target" 2>&1 | grep -E '[0-9]+ new files' || true
    rm -rf "seeds/$target"
    mv "$new" "seeds/$target"
    chmod 755 "seeds/$target"
done
