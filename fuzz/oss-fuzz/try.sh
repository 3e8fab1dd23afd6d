#!/usr/bin/env bash
# Runs build.sh as OSS-Fuzz does, on a clone in an empty directory, and every target that it built for a second, from its seeds and with its dictionary.
# It uses the compiler of this machine in place of OSS-Fuzz' image.
source "$(dirname "$0")/../lib.sh"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
mkdir "$scratch/src" "$scratch/out"
git clone --quiet .. "$scratch/src/podrank"
cp oss-fuzz/build.sh "$scratch/src"
(cd "$scratch/src/podrank" && env -i PATH="$PATH" HOME="$HOME" SRC="$scratch/src" OUT="$scratch/out" bash ../build.sh) >"$scratch/log" 2>&1 ||
    { cat "$scratch/log"; exit 1; }
cd "$scratch/out"
for target in "${targets[@]}"; do
    python3 -m zipfile -e "${target}_seed_corpus.zip" "$target.corpus"
    options=()
    [ ! -f "$target.dict" ] || options=("-dict=$target.dict")
    "./$target" "${options[@]}" -seed=1 -max_total_time=1 -print_final_stats=1 "$target.corpus" >"$scratch/log" 2>&1 || { cat "$scratch/log"; exit 1; }
    seeds=$(find "$scratch/src/podrank/fuzz/seeds/$target" -type f | wc -l)
    grep -Eq "^INFO: *$seeds files found" "$scratch/log" || { cat "$scratch/log"; echo "$target: $seeds seeds, and not all were read"; exit 1; }
    echo "$target: $(executions "$scratch/log") executions, $seeds seeds, $(ls ./*.dict | grep -c "/$target.dict") dictionaries"
done
echo "oss-fuzz: ok"
