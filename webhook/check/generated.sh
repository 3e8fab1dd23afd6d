#!/usr/bin/env bash
# What controller-gen makes is what is checked in.
set -euo pipefail
cd "$(dirname "$0")/.."
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
generated=(api/v1alpha1/zz_generated.deepcopy.go config/crd/podrank.dev_scaledownpolicies.yaml config/rbac/role.yaml config/webhook/manifests.yaml
    chart/templates/podrank-webhook.yaml chart/templates/certificate.yaml chart/templates/monitoring.yaml)
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
for overlay in base cert-manager observe monitoring samples; do "${kustomize[@]}" build "config/$overlay" >"$dir/$overlay"; done
grep -q 'object.spec.replicas < oldObject.spec.replicas' "$dir/base" || { echo "generated: no matchConditions" >&2; exit 1; }
[ "$(grep -c 'key: kubernetes.io/metadata.name' "$dir/base")" = 2 ] || { echo "generated: it is asked about all namespaces" >&2; exit 1; }
# Who only observes may not write to pods.
python3 - "$dir/observe" <<'END'
import re, sys
for text in open(sys.argv[1]).read().split("\n---\n"):
    if re.search(r"^kind: (Cluster)?Role$", text, re.M) and re.search(r"^  name: podrank-webhook$", text, re.M):
        for rule in re.split(r"^- apiGroups:$", text, flags=re.M)[1:]:
            resources, verbs = rule.split("verbs:")
            writes = set(re.findall(r"- (\w+)", verbs)) & {"create", "delete", "patch", "update"}
            assert not ("- pods\n" in resources and writes), rule
END
# What is released is what is installed.
version=$(sed -n 's/^version = "\(.*\)"$/\1/p' ../Cargo.toml | head -1)
says() { grep -Eq "^ *$2$" "$1" || { echo "generated: $1 is of another release: it does not say $2" >&2; exit 1; }; }
says config/base/kustomization.yaml "newTag: v$version"
for line in "version: $version" "appVersion: v$version" "image: ghcr.io/podrank/podrank-webhook:v$version"; do says chart/Chart.yaml "$line"; done
echo "generated: ok"
