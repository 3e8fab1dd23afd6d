#!/bin/sh
# Pins k8s.io/kubernetes to one release, and every staging module to its twin:
#
#   ./pins.sh v1.37.1
#
# Upstream's go.mod finds its staging modules by relative replaces, which Go
# ignores in a dependency. The same code is published as k8s.io/<name> v0.X.Y
# for kubernetes v1.X.Y, so each of them gets a replace here.
set -eu
cd "$(dirname "$0")"
kube=${1:?usage: pins.sh v1.X.Y}
case $kube in
v1.*) stage=v0.${kube#v1.} ;;
*) echo "pins.sh: want v1.X.Y, got $kube" >&2; exit 2 ;;
esac

got=$(go mod download -json "k8s.io/kubernetes@$kube") || { echo "$got" >&2; exit 1; }
theirs=$(echo "$got" | sed -n 's|.*"GoMod": "\(.*\)".*|\1|p')
names=$(sed -n 's|^.*\(k8s\.io/[^ ]*\) => \./staging/.*|\1|p' "$theirs")
[ -n "$names" ] || { echo "pins.sh: no staging modules in $theirs" >&2; exit 1; }

# Written anew, not edited: the set of staging modules differs between releases.
ours=$(sed -n 's/^module //p' go.mod)
lang=$(sed -n 's/^go //p' "$theirs")
{
	echo "module $ours"
	echo
	echo "go $lang"
	echo
	echo "require k8s.io/kubernetes $kube"
	echo "require github.com/podrank/podrank/go v0.0.0"
	echo "replace github.com/podrank/podrank/go => ../../go"
	echo
	echo "// Made by pins.sh."
	echo "replace ("
	for m in $names; do echo "	$m => $m $stage"; done
	echo ")"
} >go.mod.new
mv go.mod.new go.mod
rm -f go.sum # it would keep the lines of the release before
go mod tidy
