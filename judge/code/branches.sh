#!/bin/sh
# Fails if a branch of Go's sort.Sort is taken by none of the lists in go_sort.json. Needs Go.
set -eu
cd "$(dirname "$0")"
source=$(go env GOROOT)/src/sort/zsortinterface.go
end=$(grep -n '^func swapRange' "$source" | cut -d: -f1) # From there on, it is sort.Stable.
profile=$(mktemp)
trap 'rm "$profile"' EXIT
go test -count=1 -coverpkg=sort -coverprofile="$profile" ./internal/gosort
awk -F '[:., ]' -v end="$end" '
    /^sort\/zsortinterface.go:/ && $3 + 0 < end + 0 { branches++; if (!$NF) { print "no list gets here: " $0; missed++ } }
    END { if (branches < 80 || missed) { print missed + 0 " of " branches + 0 " branches are not reached"; exit 1 } }' "$profile"
