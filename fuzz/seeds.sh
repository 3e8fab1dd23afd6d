#!/usr/bin/env bash
# Makes seeds/ of the seeds and the kept corpus, of these targets or all: the smallest inputs of at most MAX_LEN bytes with
# the same coverage. seeds.sh [TARGET...]
source "$(dirname "$0")/lib.sh"
[ $# -eq 0 ] || targets=("$@")
for target in "${targets[@]}"; do
    build "$target" none
    new=$(mktemp -d -p .)
    mkdir -p "corpus/$target" "seeds/$target"
    fuzz "$target" none -set_cover_merge=1 -use_counters=0 -max_len="${MAX_LEN:-1024}" "$new" "seeds/$target" "corpus/$target" 2>&1 | grep -E '[0-9]+ new files' || true
    # A test reads it by its name.
    [ ! -f "seeds/$target/minimal-cycle" ] || cp "seeds/$target/minimal-cycle" "$new/"
    rm -rf "seeds/$target"
    mv "$new" "seeds/$target"
    chmod 755 "seeds/$target"
done
