# What the checks share. Each prints one line.
set -euo pipefail
export LC_ALL=C GOWORK=off

check=$(basename "$0" .sh)
. "$(dirname "$0")/recorded.sh"
cd "$checkout/go"
module=$PWD
package=internal/cpodrank
: "${GO:=go}"

tmp=$(mktemp -d)
trap 'chmod -R u+w "$tmp"; rm -rf "$tmp"' EXIT

fail() {
    echo "$check: FAILED: $*" >&2
    exit 1
}

ok() {
    [ -z "${1:-}" ] || echo "$check: $1"
    echo "$check: ok"
}

# Runs a command that must succeed, and shows what it printed only if it does not.
quietly() {
    "$@" >"$tmp/output" 2>&1 || {
        cat "$tmp/output" >&2
        fail "$*"
    }
}

# A consumer of this checkout: the program of the README's quick start in a module of its own.
consumer() {
    mkdir -p "$1"
    sed -n '/^```go$/,/^```$/{/^```/d;p}' README.md >"$1/main.go"
    grep -q '^package main' "$1/main.go" || fail "there is no program in README.md"
    {
        echo "module example.com/consumer"
        sed -n '/^go /p' go.mod
        echo "require github.com/podrank/podrank/go v0.0.0"
        sed -n '/^require (/,/^)/p' go.mod
        echo "replace github.com/podrank/podrank/go => ${2:-$module}"
    } >"$1/go.mod"
    cp go.sum "$1/go.sum"
    sed -n '/^```text$/,/^```$/{/^```/d;p}' README.md >"$1/expected"
}
