#!/usr/bin/env bash
# Builds what OSS-Fuzz runs from $SRC/podrank into $OUT: each target with its seeds and its dictionary. try.sh runs it on this machine.
source "$SRC/podrank/fuzz/lib.sh"
for target in "${targets[@]}"; do
    build "$target" address
    cp "$(program "$target" address)" "$OUT"
    python3 -m zipfile -c "$OUT/${target}_seed_corpus.zip" "seeds/$target"/*
    [ ! -f "dictionaries/$target" ] || cp "dictionaries/$target" "$OUT/$target.dict"
done
