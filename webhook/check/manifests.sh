#!/usr/bin/env bash
# A real API server accepts all manifests and samples, fills in defaults, and refuses what policies must not say. Needs
# `make cluster`, and changes no cluster but its own.
set -euo pipefail
cd "$(dirname "$0")/.."
dir=$(mktemp -d)
trap '../judge/cluster/down "$dir/plane"; rm -rf "$dir"' EXIT
addresses=$(../judge/cluster/up "$dir/plane")
# shellcheck disable=SC2086 # one word for each variable
export $addresses

die() {
    echo "manifests: $*" >&2
    exit 1
}

# Objects that refer to a namespace or a kind need them to exist, even in a dry run.
check/render --set createNamespace=true --show-only templates/namespace.yaml --show-only templates/crd.yaml | kubectl apply -f - >/dev/null
kubectl wait --for condition=established crd/scaledownpolicies.podrank.dev --timeout 30s >/dev/null
# accepts NAME FLAG...: what the chart renders with these flags of Helm, each object with all of its fields.
accepts() { check/render "${@:2}" | kubectl apply --dry-run=server --validate=strict -f - >"$dir/$1"; }
accepts base --set createNamespace=true
kubectl apply --dry-run=server -f samples >"$dir/samples"
# cert-manager's own kinds, without cert-manager.
for kind in Issuer:issuers Certificate:certificates; do
    kubectl apply -f - >/dev/null <<END
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: ${kind#*:}.cert-manager.io
  annotations: {api-approved.kubernetes.io: unapproved, for-a-test: "true"}
spec:
  group: cert-manager.io
  scope: Namespaced
  names: {kind: ${kind%:*}, plural: ${kind#*:}}
  versions:
  - {name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}
END
    kubectl wait --for condition=established "crd/${kind#*:}.cert-manager.io" --timeout 30s >/dev/null
done
accepts cert-manager --set certManager=true
accepts observe --set observeOnly=true
accepts values --set 'idle.resources=true,idle.metrics={active_sessions},hostNetwork=true,dashboard.enabled=true,networkPolicy.requestsFrom[0].ipBlock.cidr=10.0.0.0/28' \
    --set clientCA.configMap=authorities,clientCA.commonName=api
defaults=$(kubectl create --dry-run=server -o jsonpath='{.spec.rollouts} {.spec.emptyNodes} {.spec.foreignCosts} {.spec.mode}' -f samples/zone-balance.yaml)
[ "$defaults" = 'Ignore Ignore Keep Steer' ] || die "defaults: $defaults"

# refuses WHY SPEC
refuses() {
    local out
    if out=$(printf '{"apiVersion":"podrank.dev/v1alpha1","kind":"ScaleDownPolicy","metadata":{"name":"bad"},"spec":%s}' "$2" |
        kubectl create --dry-run=server -f - 2>&1); then
        die "accepted: $2"
    fi
    [[ $out == *"$1"* ]] || die "$2: $out"
}
target='{"apiVersion":"apps/v1","kind":"Deployment","name":"web"}'
refuses 'exactly one of targetRef and selector is required' '{"spread":["a"]}'
refuses 'exactly one of targetRef and selector is required' '{"selector":{},"targetRef":'"$target"'}'
refuses 'spec.targetRef.name: Required value' '{"targetRef":{"apiVersion":"apps/v1","kind":"Deployment"}}'
refuses 'should match' '{"targetRef":{"apiVersion":"apps/v1/x","kind":"Deployment","name":"web"}}'
refuses 'nodes is required when type is Nodes' '{"selector":{},"deleteFirst":[{"type":"Nodes"}]}'
refuses 'pods is required when type is Pods, and forbidden otherwise' '{"selector":{},"deleteFirst":[{"type":"Nodes","nodes":{},"pods":{}}]}'
refuses 'each node label must be listed once' '{"selector":{},"spread":["a","a"]}'
refuses 'should match' '{"selector":{},"spread":["no/such/key"]}'
refuses 'Too many' '{"selector":{},"spread":["a","b","c","d","e"]}'
refuses 'Unsupported value' '{"selector":{},"spread":["a"],"rollouts":"Yes"}'
refuses 'Unsupported value' '{"selector":{},"emptyNodes":"Yes"}'
refuses 'Unsupported value' '{"selector":{},"foreignCosts":"Drop"}'
refuses 'Unsupported value' '{"selector":{},"mode":"Watch"}'
inn='{"matchExpressions":[{"key":"a","operator":"Inn","values":["b"]}]}'
# So many expressions in a selector, which each decision of the namespace has to compile.
five='{"matchExpressions":['$(printf '{"key":"a%s","operator":"Exists"},' 1 2 3 4)'{"key":"a","operator":"Exists"}]}'
long="{\"matchLabels\":{\"$(printf 'x%.0s' {1..318})\":\"a\"}}"
for place in '{"selector":SELECTOR}' '{"selector":{},"deleteFirst":[{"type":"Nodes","nodes":SELECTOR}]}' '{"selector":{},"deleteFirst":[{"type":"Pods","pods":SELECTOR}]}'; do
    refuses 'Unsupported value' "${place/SELECTOR/$inn}"
    refuses 'must have at most 4 items' "${place/SELECTOR/$five}"
    refuses 'a key of at most 317 characters' "${place/SELECTOR/$long}"
done
# Nothing is left once it is uninstalled, but for the namespace, since nobody empties it here.
check/render --set createNamespace=true >"$dir/all.yaml"
kubectl apply -f "$dir/all.yaml" >/dev/null
kubectl delete -f "$dir/all.yaml" --wait=false >/dev/null
for kind in $(kubectl api-resources --verbs=list --namespaced=false -o name | grep -v '^namespaces$'); do
    left=$(kubectl get "$kind" -o name 2>/dev/null | grep podrank || true)
    [ -z "$left" ] || die "uninstalled, it leaves $left"
done
echo "manifests: $(cat "$dir/base" "$dir/samples" "$dir/cert-manager" "$dir/observe" "$dir/values" | wc -l) objects: ok"
