#!/usr/bin/env bash
# Builds the archive with each combination of features. It has exactly the functions of these features, every vector
# holds that it can decide, and the crates compile without a warning. Prints its size on a Cortex-M3, in bytes.
. "$(dirname "$0")/lib.sh"

# of FEATURE: the functions that it adds.
of() {
    local -A modules=([kubernetes]="probabilities kubernetes" [steering]=steer [controller]=controller)
    sed -nE 's/^pub .*extern "C" fn (podrank_\w+).*/\1/p' $(printf 'ffi/src/%s.rs ' ${modules[$1]})
}

quietly make -s table
core_for thumbv7m-none-eabi
for features in "" kubernetes steering controller "kubernetes steering" "controller kubernetes" "controller steering" \
    "controller kubernetes steering"; do
    without=() flags=(-DPODRANK_WITHOUT_KUBERNETES) of_ffi=""
    for feature in kubernetes steering controller; do
        case " $features " in
        *" $feature "*) of_ffi+=",podrank/$feature,podrank-ffi/$feature" ;;
        *) without+=($(of $feature)) ;;
        esac
    done
    [[ $features != *kubernetes* ]] || flags=()
    quietly env RUSTFLAGS=-Dwarnings CARGO_TARGET_DIR="$CARGO_TARGET_DIR/features" cargo check --quiet -p podrank -p podrank-ffi \
        --no-default-features --features "${of_ffi#,}"
    quietly env CARGO=cargo make -s archive FEATURES="$features"
    out=$CARGO_TARGET_DIR/c-order${features:+-${features// /-}}
    diff <(functions | grep -vxFf <(printf '%s\n' "${without[@]-}")) \
        <("$NM" -g --defined-only "$out/libpodrank.a" | sed -n 's/.* T //p' | sort) >&2 || fail "$features: other functions"
    quietly "$CC" -std=c99 $strict -O2 -DPODRANK_VECTORS_MAIN "${flags[@]}" -Iinclude -I"$CARGO_TARGET_DIR/c" ffi/check/vectors.c \
        "$out/libpodrank.a" -o "$tmp/vectors"
    quietly "$tmp/vectors"
    quietly make -s archive FEATURES="$features" TARGET=thumbv7m-none-eabi AR=arm-none-eabi-ar
    printf '%-32s %6d\n' "${features:-none}" \
        "$(arm-none-eabi-size "${out/#$CARGO_TARGET_DIR/$CARGO_TARGET_DIR/thumbv7m-none-eabi}/podrank.o" | awk 'NR == 2 { print $1 }')"
done
ok
