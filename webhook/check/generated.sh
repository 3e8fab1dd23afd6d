#!/usr/bin/env bash
# What controller-gen makes is what is checked in.
set -euo pipefail
cd "$(dirname "$0")/.."
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
generated=(api/v1alpha1/zz_generated.deepcopy.go chart/files/role.yaml chart/files/podrank.dev_scaledownpolicies.yaml)
cp --parents "${generated[@]}" "$dir"
make --no-print-directory -s generate
for file in "${generated[@]}"; do
    if ! diff -u "$dir/$file" "$file"; then
        cp -r "$dir/." .
        echo "generated: $file differs from what is checked in: run make -C webhook generate" >&2
        exit 1
    fi
done
# The chart installs the image of its own release.
version=$(sed -n 's/^version = "\(.*\)"$/\1/p' ../Cargo.toml | head -1)
says() { grep -Eq "^ *$2$" "$1" || { echo "generated: $1 is of another release: it does not say $2" >&2; exit 1; }; }
for line in "version: $version" "appVersion: v$version" "image: ghcr.io/podrank/podrank-webhook:v$version"; do says chart/Chart.yaml "$line"; done
echo "generated: ok"
