#!/usr/bin/env bash
# The README's quick start, in a module that vendors this one, builds and runs without Rust. Compared with a program that only has
# corev1.Pod, it grows by about as much as README.md says.
. "$(dirname "$0")/common.sh"

consumer "$tmp/consumer"
cd "$tmp/consumer"
mkdir plain
cat >plain/main.go <<'GO'
package main

import (
	"fmt"
	"log"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func main() {
	log.SetFlags(0)
	fmt.Println(corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "web-1"}}.Name)
}
GO
quietly "$GO" mod tidy
quietly "$GO" mod vendor
for file in library.h podrank.h libpodrank_linux_amd64.a libpodrank_linux_arm64.a; do
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
size() {
    quietly env PATH="$tmp/bin" CC=gcc "$go" build -mod=vendor -trimpath -ldflags '-s -w' -o program "$1"
    wc -c <program
}
with=$(size .)
without=$(size ./plain)
grows=$(awk "BEGIN {printf \"%.1f\", ($with - $without) / 1e6}")
said=$(sed -n 's/.*grows by \([0-9.]*\) MB.*/\1/p' "$module/README.md")
# Releases of Go differ a little.
[ "$("$GO" env GOARCH)" != amd64 ] || awk "BEGIN {exit !($grows - $said <= 0.2 && $said - $grows <= 0.2)}" ||
    fail "README.md says that a program grows by $said MB, but it is $grows MB"
ok "$(wc -l <main.go) lines, vendored, without Rust; a program grows by $grows MB, from $(awk "BEGIN {printf \"%.1f\", $without / 1e6}") MB"
