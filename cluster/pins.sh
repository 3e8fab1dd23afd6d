#!/usr/bin/env bash
# Takes the release of Kubernetes and its staging modules' pins from go/judge/go.mod, which go/judge/pins.sh makes:
# all of the project tests on one release, so that go compiles it once.
set -euo pipefail
cd "$(dirname "$0")"
block='/^\/\/ Made by pins.sh/,/^)/'
release=$(sed -n 's|^.*k8s\.io/kubernetes \(v[^ ]*\).*|\1|p' ../go/judge/go.mod)
{
    sed "$block d; s|\(k8s\.io/kubernetes\) v[^ ]*|\1 $release|" go.mod
    sed -n "$block p" ../go/judge/go.mod
} >go.mod.new
mv go.mod.new go.mod
go mod tidy
