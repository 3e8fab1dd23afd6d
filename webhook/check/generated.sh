#!/usr/bin/env bash
# What controller-gen makes is what is checked in.
set -euo pipefail
cd "$(dirname "$0")/.."
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
generated=(api/v1alpha1/zz_generated.deepcopy.go config/crd/podrank.dev_scaledownpolicies.yaml config/rbac/role.yaml config/webhook/manifests.yaml)
cp --parents "${generated[@]}" "$dir"
make --no-print-directory -s generate
for file in "${generated[@]}"; do
    if ! diff -u "$dir/$file" "$file"; then
        cp -r "$dir/." .
        echo "generated: $file differs from what is checked in: run make -C webhook generate" >&2
        exit 1
    fi
done
# They can be built without a cluster.
kustomize=(go tool -modfile=tools/go.mod kustomize)
for overlay in base cert-manager samples; do "${kustomize[@]}" build "config/$overlay" >"$dir/$overlay"; done
grep -q 'object.spec.replicas < oldObject.spec.replicas' "$dir/base" || { echo "generated: no matchConditions" >&2; exit 1; }
echo "generated: ok"
