#!/usr/bin/env bash
# A program can link the archive and another Rust static library, including std, in either order.
. "$(dirname "$0")/common.sh"

cat >"$tmp/second.rs" <<'RUST'
#[unsafe(no_mangle)]
pub extern "C" fn second(n: u32) -> u32 {
    let texts: Vec<String> = (0..n).map(|i| i.to_string()).collect();
    std::panic::catch_unwind(|| texts[n as usize].len() as u32).unwrap_or(texts.len() as u32)
}
RUST
cat >"$tmp/both.c" <<'C'
#include "podrank.h"
uint32_t second(uint32_t n);
int main(void) {
    podrank_pod pods[2] = { PODRANK_POD_INIT, PODRANK_POD_INIT };
    uint32_t order[2];
    pods[0].restarts = 1;
    pods[1].restarts = 2;
    return podrank_sort(pods, 2, NULL, order, 2, NULL, 0) == PODRANK_OK && order[0] == 1 && second(7) == 7 ? 0 : 1;
}
C
quietly rustc --edition 2024 --crate-type staticlib -O --print native-static-libs -o "$tmp/libsecond.a" "$tmp/second.rs"
libraries=$(sed -n 's/^note: native-static-libs: //p' "$tmp/output")
[ -n "$libraries" ] || fail "rustc names no libraries that its static library needs"

for pair in "$archive $tmp/libsecond.a" "$tmp/libsecond.a $archive"; do
    quietly $CC -std=c99 $strict -Iinclude "$tmp/both.c" $pair $libraries -Wl,--fatal-warnings -o "$tmp/both"
    quietly "$tmp/both"
done
ok "linked in either order"
