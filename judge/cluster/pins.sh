#!/usr/bin/env bash
# Takes the release of Kubernetes and its staging modules' pins from judge/code/go.mod, which judge/code/pins.sh makes:
# all of the project tests on one release, so that go compiles it once.
set -euo pipefail
cd "$(dirname "$0")"
release=$(sed -n 's|^.*\(k8s\.io/kubernetes v[^ ]*\).*|\1|p' ../code/go.mod)
# Written from scratch, not edited: an older release may not build with what a newer one requires.
{
    sed -n '/^module/p; /^go /p; /^tool (/,/^)/p' go.mod
    echo "require $release"
    sed -n '/^\/\/ Made by staging.sh/,/^)/p' ../code/go.mod
} >go.mod.new
mv go.mod.new go.mod
rm -f go.sum # it would keep the lines of the release before
go mod tidy
