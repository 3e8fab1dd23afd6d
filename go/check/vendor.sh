#!/usr/bin/env bash
# The README's quick start, in a module that vendors this one, builds and runs without Rust.
. "$(dirname "$0")/common.sh"

consumer "$tmp/consumer"
cd "$tmp/consumer"
quietly "$GO" mod tidy
quietly "$GO" mod vendor
for file in podrank.h libpodrank_linux_amd64.a libpodrank_linux_arm64.a; do
    [ -f "vendor/github.com/podrank/podrank/go/internal/cpodrank/$file" ] || fail "$file is not vendored"
done
# Programs alone that the build is to have: Go, a C compiler and what they call.
mkdir "$tmp/bin"
for tool in gcc cc as ld ld.bfd; do
    ! path=$(command -v "$tool") || ln -s "$path" "$tmp/bin/$tool"
done
go=$(command -v "$GO")
env PATH="$tmp/bin" CC=gcc "$go" build -mod=vendor -o consumer . >"$tmp/output" 2>&1 || { cat "$tmp/output" >&2; fail "go build -mod=vendor"; }
./consumer | diff expected - >&2 || fail "the quick start prints something else"
ok "$(wc -l <main.go) lines, vendored, without Rust"
