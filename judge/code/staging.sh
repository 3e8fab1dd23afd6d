#!/bin/sh
# Prints the lines of a go.mod that pin k8s.io/kubernetes to one release, and every staging module to its twin:
#
#   staging.sh v1.37.1
#
# Upstream's go.mod finds its staging modules by relative replaces, which Go
# ignores in a dependency. The same code is published as k8s.io/<name> v0.X.Y
# for kubernetes v1.X.Y, so each of them gets a replace here.
set -eu
kube=${1:?usage: staging.sh v1.X.Y}
case $kube in
v1.*) stage=v0.${kube#v1.} ;;
*) echo "staging.sh: want v1.X.Y, got $kube" >&2; exit 2 ;;
esac

got=$(go mod download -json "k8s.io/kubernetes@$kube") || { echo "$got" >&2; exit 1; }
theirs=$(echo "$got" | sed -n 's|.*"GoMod": "\(.*\)".*|\1|p')
names=$(sed -n 's|^.*\(k8s\.io/[^ ]*\) => \./staging/.*|\1|p' "$theirs")
[ -n "$names" ] || { echo "staging.sh: no staging modules in $theirs" >&2; exit 1; }

# The set of staging modules differs between releases. Tool lines need Go 1.24.
lang=$(sed -n 's/^go //p' "$theirs")
[ "$(printf '%s\n' 1.24 "$lang" | sort -V | head -n 1)" = 1.24 ] || lang=1.24
echo "go $lang"
echo
echo "require k8s.io/kubernetes $kube"
echo
echo "// Made by staging.sh."
echo "replace ("
for m in $names; do echo "	$m => $m $stage"; done
echo ")"
