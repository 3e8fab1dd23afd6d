#!/bin/sh
# Pins k8s.io/kubernetes to one release, and every staging module to its twin:
#
#   ./pins.sh v1.37.1
set -eu
cd "$(dirname "$0")"
kube=${1:?usage: pins.sh v1.X.Y}

# Written from scratch, not edited: the set of staging modules differs between releases.
{
	echo "module $(sed -n 's/^module //p' go.mod)"
	echo
	./staging.sh "$kube"
	echo
	echo "require github.com/podrank/podrank/go v0.0.0"
	echo "replace github.com/podrank/podrank/go => ../../go"
	echo "require github.com/podrank/podrank/tests/vectors/comparator v0.0.0"
	echo "replace github.com/podrank/podrank/tests/vectors/comparator => ../../tests/vectors/comparator"
} >go.mod.new
mv go.mod.new go.mod
rm -f go.sum # it would keep the lines of the release before
go mod tidy
