# Sourced by the scripts beside it, at their start.
set -euo pipefail
shopt -s extglob nullglob
cd "$(dirname "$0")"

targets=(order select settle steer controller ffi cost uid preview)
target_dir=${CARGO_TARGET_DIR:-target}

command -v cargo-fuzz >/dev/null || { echo "needs cargo-fuzz: cargo install --locked cargo-fuzz" >&2; exit 2; }

# Where the bytes are choices and no text, the fuzzer learns nothing from the operands of comparisons, and watching them
# takes three quarters of the time.
watched() {
    case $1 in
    cost | uid | preview) echo "$2" ;;
    *) echo "$2-choices" ;;
    esac
}

# Builds a target with a sanitizer, address or none. `address` is not for stable compilers, hence the variable.
build() {
    local dir options=()
    dir=$(watched "$1" "$2")
    [ "$dir" = "$2" ] || options=(--no-trace-compares)
    RUSTC_BOOTSTRAP=1 cargo fuzz build --sanitizer "$2" "${options[@]}" --target-dir "$target_dir/$dir" "$1"
}

# What was built.
program() { echo "$target_dir/$(watched "$1" "$2")/$(rustc -vV | sed -n 's/^host: //p')/release/$1"; }

# Runs a target built with a sanitizer, with its dictionary if it has one: fuzz TARGET SANITIZER ARGUMENT...
fuzz() {
    local target=$1 program options=()
    program=$(program "$1" "$2")
    [ ! -f "dictionaries/$target" ] || options=("-dict=dictionaries/$target")
    shift 2
    mkdir -p "artifacts/$target"
    "$program" "${options[@]}" -print_final_stats=1 -artifact_prefix="artifacts/$target/" "$@"
}

# How often the program ran, and the edges it covered, by its log.
executions() { sed -n 's/^stat::number_of_executed_units: //p' "$1"; }
coverage() { grep -o 'cov: [0-9]*' "$1" | tail -n 1 | cut -d' ' -f2 || true; }
