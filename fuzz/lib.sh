# Sourced by the scripts beside it, at their start.
set -euo pipefail
shopt -s extglob nullglob
cd "$(dirname "$0")"

targets=(order select settle ffi cost uid preview)
target_dir=${CARGO_TARGET_DIR:-target}

command -v cargo-fuzz >/dev/null || { echo "needs cargo-fuzz: cargo install --locked cargo-fuzz" >&2; exit 2; }

# Builds a target with a sanitizer, address or none. `address` is not for stable compilers, hence the variable.
build() {
    RUSTC_BOOTSTRAP=1 cargo fuzz build --sanitizer "$2" --target-dir "$target_dir/$2" "$1"
}

# Runs a target built with a sanitizer, with its dictionary if it has one: fuzz TARGET SANITIZER ARGUMENT...
fuzz() {
    local target=$1 program options=()
    program=$target_dir/$2/$(rustc -vV | sed -n 's/^host: //p')/release/$1
    [ ! -f "dictionaries/$target" ] || options=("-dict=dictionaries/$target")
    shift 2
    mkdir -p "artifacts/$target"
    "$program" "${options[@]}" -print_final_stats=1 -artifact_prefix="artifacts/$target/" "$@"
}

# How often the program ran, and the edges it covered, by its log.
executions() { sed -n 's/^stat::number_of_executed_units: //p' "$1"; }
coverage() { grep -o 'cov: [0-9]*' "$1" | tail -n 1 | cut -d' ' -f2 || true; }
