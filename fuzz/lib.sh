# Functions for the scripts in this directory, which source this file first.
set -euo pipefail
shopt -s extglob nullglob
cd "$(dirname "${BASH_SOURCE[0]}")"

targets=(order select settle odds steer controller ffi cost uid preview)
target_dir=${CARGO_TARGET_DIR:-target}

command -v cargo-fuzz >/dev/null || { echo "needs cargo-fuzz: cargo install --locked cargo-fuzz" >&2; exit 2; }

# The suffix of the build directory. For targets whose bytes are choices and not text, the operands of comparisons teach
# the fuzzer nothing, and tracing them takes three quarters of the time.
watched() {
    case $1 in
    cost | uid | preview) echo "$2" ;;
    *) echo "$2-choices" ;;
    esac
}

# Builds a target with a sanitizer, address or none: build TARGET SANITIZER. The stable compiler accepts `address` only with
# this variable.
build() {
    local dir options=()
    dir=$(watched "$1" "$2")
    [ "$dir" = "$2" ] || options=(--no-trace-compares)
    [ "$1" = preview ] || options+=(--no-default-features)
    RUSTC_BOOTSTRAP=1 cargo fuzz build --sanitizer "$2" "${options[@]}" --target-dir "$target_dir/$dir" "$1"
}

# Prints the path of the program that was built: program TARGET SANITIZER.
program() { echo "$target_dir/$(watched "$1" "$2")/$(rustc -vV | sed -n 's/^host: //p')/release/$1"; }

# Runs a target, with its dictionary if it has one: fuzz TARGET SANITIZER ARGUMENT...
fuzz() {
    local target=$1 program options=()
    program=$(program "$1" "$2")
    [ ! -f "dictionaries/$target" ] || options=("-dict=dictionaries/$target")
    shift 2
    mkdir -p "artifacts/$target"
    "$program" "${options[@]}" -print_final_stats=1 -artifact_prefix="artifacts/$target/" "$@"
}

# Print the number of executions, and of covered edges, from the fuzzer's log.
executions() { sed -n 's/^stat::number_of_executed_units: //p' "$1"; }
coverage() { grep -o 'cov: [0-9]*' "$1" | tail -n 1 | cut -d' ' -f2 || true; }
