#!/usr/bin/env bash
# README.md has the race as `make -C go compare` prints it. With --write: runs it and puts its lines there.
. "$(dirname "$0")/common.sh"

if [ "${1:-}" = --write ]; then
    make -s --no-print-directory compare | grep '^n=' | tee "$tmp/lines" >&2
    sed -i -e "/^\\$ make -s -C go compare$/r $tmp/lines" -e '/^n=[0-9]* upstream=/d' README.md
fi
for n in 10 100 1000 10000 100000; do
    grep -qE "^n=$n upstream=[0-9.]+(m|µ|n)?s cgo=[0-9.]+(m|µ|n)?s plain=[0-9.]+(m|µ|n)?s floor=[0-9.]+(m|µ|n)?s cgo-ratio=[0-9.]+ plain-ratio=[0-9.]+$" README.md ||
        fail "no line of $n pods: make -C go readme"
done
ok
