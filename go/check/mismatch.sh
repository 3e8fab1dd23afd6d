#!/usr/bin/env bash
# With a header of another ABI than the archive's, programs do not link.
. "$(dirname "$0")/common.sh"

abi=$(sed -n 's/^#define PODRANK_ABI //p' "$package/podrank.h")
mkdir "$tmp/module"
cp -R go.mod go.sum ./*.go internal "$tmp/module"
consumer "$tmp/consumer" "$tmp/module"
cd "$tmp/consumer"
quietly "$GO" build -mod=mod -o consumer .
# As it would be in the release that raises the number.
sed -i "s/podrank_abi_$abi\b/podrank_abi_$((abi + 1))/; s/^#define PODRANK_ABI .*/#define PODRANK_ABI $((abi + 1))/" \
    "$tmp/module/$package/podrank.h"
sed -i "s/podrank_abi_$abi\b/podrank_abi_$((abi + 1))/" "$tmp/module/$package/cgo.go"
! "$GO" build -mod=mod -o consumer . >"$tmp/output" 2>&1 || fail "a header of ABI $((abi + 1)) links with an archive of ABI $abi"
grep -q "undefined reference to .podrank_abi_$((abi + 1))" "$tmp/output" || { cat "$tmp/output" >&2; fail "it does not say why"; }
ok "ABI $((abi + 1)) does not link with ABI $abi"
