#!/usr/bin/env bash
# Takes the release of Kubernetes and its staging modules' pins from go/judge/go.mod, which go/judge/pins.sh makes:
# all of the project tests on one release, so that go compiles it once.
set -euo pipefail
cd "$(dirname "$0")"
theirs=../go/judge/go.mod
edits=(-dropreplace=k8s.io/none)
while read -r module; do edits+=(-dropreplace="$module"); done < <(sed -n 's|^\t\(k8s\.io/[^ ]*\) => .*|\1|p' go.mod)
while read -r module _ _ pin; do edits+=(-replace="$module=$module@$pin"); done < <(grep -P '^\tk8s\.io/\S+ => ' "$theirs")
version=$(sed -n 's|^.*k8s\.io/kubernetes \(v[^ ]*\).*|\1|p' "$theirs")
go mod edit "${edits[@]}" -require="k8s.io/kubernetes@$version"
go mod tidy
