#!/usr/bin/env bash
# Helm accepts the chart, and renders what kustomize renders: with each value, what that value says. Building Helm takes minutes.
set -euo pipefail
cd "$(dirname "$0")/.."
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
go build -modfile=tools/helm/go.mod -o "$dir/helm" helm.sh/helm/v3/cmd/helm
kustomize=(go tool -modfile=tools/go.mod kustomize)

die() {
    echo "chart: $*" >&2
    exit 1
}

# render FILE FLAG... puts the objects in kustomize's form into FILE.
render() {
    local file=$1
    shift
    mkdir -p "$dir/as-kustomize"
    "$dir/helm" template podrank-webhook chart --namespace podrank-system --kube-version 1.30 "$@" >"$dir/as-kustomize/all.yaml"
    echo 'resources: [all.yaml]' >"$dir/as-kustomize/kustomization.yaml"
    "${kustomize[@]}" build "$dir/as-kustomize" >"$file"
}

"$dir/helm" lint --strict --quiet --kube-version 1.30 chart
# Helm makes the namespace itself.
mkdir "$dir/base"
cp -r config "$dir/base"
sed -i '/namespace.yaml/d' "$dir/base/config/base/kustomization.yaml"
# same OVERLAY FLAG...
same() {
    "${kustomize[@]}" build "$dir/base/config/$1" >"$dir/expected"
    render "$dir/got" "${@:2}"
    diff -u "$dir/expected" "$dir/got" || die "the chart renders other objects than kustomize for $1"
}
same base
same cert-manager --set certManager=true
! grep -q secrets "$dir/got" || die "beside cert-manager, there is a right on secrets"

# has WHAT FLAG... checks that a value changes what it should.
has() {
    local what=$1
    shift
    render "$dir/got" "$@"
    grep -q -- "$what" "$dir/got" || die "$* does not give $what"
}
has 'image: registry.example.com/p:v9' --set image.repository=registry.example.com/p,image.tag=v9
has 'image: registry.example.com/podrank-webhook:v[0-9.]*[^ @]*@sha256:ab$' --set image.repository=registry.example.com/podrank-webhook,image.digest=sha256:ab
has 'image: ghcr.io/podrank/podrank-webhook:v9$' --set image.tag=v9,image.digest=sha256:ab
has '--mode=Observe' --set mode=Observe
has '  replicas: 3' --set replicas=3
has '--decisions-per-second=20' --set 'args={--decisions-per-second=20}'
has 'memory: 1Gi' --set memory.limit=1Gi
has 'value: 900MiB' --set memory.goLimit=900MiB
has 'priorityClassName: high' --set priorityClassName=high
render "$dir/got"
! grep -q -e '--others' "$dir/got" || die "costs of others may be overwritten by default"
has '--others=Override' --set 'others={Follow,Override}'
# Rights and flags for values are there if they are asked for, and not by default.
render "$dir/got"
! grep -q '^  - \(custom\.\)\?metrics.k8s.io\|--prometheus\|--publish' "$dir/got" || die "there are rights to read metrics by default"
has '^  - metrics.k8s.io' --set idle.resources=true
has '^  - pods/active_sessions' --set 'idle.metrics={active_sessions}'
has '--publish-values' --set idle.publishValues=true
prometheus=(--set idle.prometheus.address=https://prometheus:9090 --set-literal 'idle.prometheus.queries.busy=sum by (pod) (a{namespace="$namespace"})'
    --set idle.prometheus.secret=prometheus,idle.prometheus.token=true)
has '--prometheus=https://prometheus:9090' "${prometheus[@]}"
has '--prometheus-query=busy=sum by (pod) (a{namespace="$namespace"})' "${prometheus[@]}"
has '--prometheus-token=/prometheus/token' "${prometheus[@]}"
has 'mountPath: /prometheus' "${prometheus[@]}"
has 'secretName: prometheus' "${prometheus[@]}"
has 'kind: PrometheusRule' --set monitoring=true
has 'kind: ServiceMonitor' --set monitoring=true
has 'grafana_dashboard: "1"' --set monitoring=true
# What Grafana puts into a legend is not Helm's.
has '"legendFormat": "{{result}}"' --set monitoring=true
"$dir/helm" template podrank-webhook chart --namespace elsewhere --kube-version 1.30 --set certManager=true,monitoring=true >"$dir/elsewhere"
! grep -n podrank-system "$dir/elsewhere" || die "the namespace is written down"
echo "chart: ok"
