#!/usr/bin/env bash
# Kubernetes' own tests of its ReplicaSet and ReplicationController controllers and of their order pass with podrank in place of
# the sort: with each engine, by podrank's own order and by Kubernetes'. The release is the one that judge/code/go.mod pins; its
# packages are patched in copies, which the compiler takes for packages of the judge.
#
# No test differs. Like Kubernetes, the patched controller asks for an order only if fewer than all pods go; if all go, two cases
# of TestGetPodsToDelete expect them as listed, and podrank would list them in its order.
. "$(dirname "$0")/common.sh"

cd ../judge/code
# On a machine that has never built it, it has no directory yet.
"$GO" mod download k8s.io/kubernetes
kubernetes=$("$GO" list -m -f '{{.Dir}}' k8s.io/kubernetes)
controller=$kubernetes/pkg/controller

# podrank replaces the sort, and gets the pods in random order, so that the order in which a test lists them helps nobody.
sed '/^\t"sort"$/d; s/^\t\tsort\.Sort(podsWithRanks)$/\t\tputVictimsFirst(podsWithRanks, relatedPods, diff)/' \
    "$controller/replicaset/replica_set.go" >"$tmp/replica_set.go"
[ "$(grep -c putVictimsFirst "$tmp/replica_set.go")" = 1 ] || fail "there is no sort to replace"
cat >"$tmp/victims.go" <<'GO'
package replicaset

import (
	"math/rand/v2"
	"os"
	"slices"

	podrank "github.com/podrank/podrank/go"
	v1 "k8s.io/api/core/v1"
	"k8s.io/kubernetes/pkg/controller"
)

func putVictimsFirst(ranked controller.ActivePodsWithRanks, related []*v1.Pod, diff int) {
	pods := ranked.Pods
	rand.Shuffle(len(pods), func(i, j int) { pods[i], pods[j] = pods[j], pods[i] })
	var options []podrank.Option
	order := os.Getenv("PODRANK_ORDER")
	switch order {
	case "kubernetes":
		options = append(options, podrank.Kubernetes())
	case "no-decision":
		return
	case "no-ranks":
		related = nil
	}
	victims, err := podrank.PodsToDelete(pods, related, diff, options...)
	if err != nil {
		panic(err)
	}
	others := slices.DeleteFunc(slices.Clone(pods), func(pod *v1.Pod) bool { return slices.Contains(victims, pod) })
	if order == "reversed" {
		victims, others = others, victims
	}
	copy(pods[copy(pods, victims):], others)
}

// Only the patched package has it: without it, this is not the package that was patched.
var _ = controller.PodrankDecides
GO
# So is the order of two pods.
sed 's/^func (s ActivePodsWithRanks) Less(/func (s ActivePodsWithRanks) upstreamLess(/' \
    "$controller/controller_utils.go" >"$tmp/controller_utils.go"
grep -q upstreamLess "$tmp/controller_utils.go" || fail "there is no Less to replace"
cat >"$tmp/less.go" <<'GO'
package controller

import (
	"os"

	podrank "github.com/podrank/podrank/go"
	v1 "k8s.io/api/core/v1"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/kubernetes/pkg/features"
)

const PodrankDecides = true

func (s ActivePodsWithRanks) Less(i, j int) bool {
	order := os.Getenv("PODRANK_ORDER")
	if s.Pods[i] == s.Pods[j] || order == "no-decision" {
		return false
	}
	ranks := map[*v1.Pod]int{s.Pods[i]: s.Rank[i], s.Pods[j]: s.Rank[j]}
	if order == "no-ranks" {
		clear(ranks)
	}
	explanation, err := podrank.Explain(s.Pods[i], s.Pods[j], nil, podrank.WithNow(s.Now.Time),
		podrank.WithRanks(func(pod *v1.Pod) int { return ranks[pod] }),
		podrank.WithPodDeletionCost(utilfeature.DefaultFeatureGate.Enabled(features.PodDeletionCost)))
	if err != nil {
		panic(err)
	}
	if order == "reversed" {
		return explanation.First > 0
	}
	return explanation.First < 0
}
GO
# overlay PACKAGE FILE...: its files, and these in their place or besides, as a package of the judge. What it imports of the
# packages here is their copy.
copy=github.com/podrank/podrank/go/judge/patched
overlay() {
    local package=$1 file
    mkdir "$tmp/$package"
    cp "$kubernetes/pkg/controller/$package"/*.go "$tmp/$package"
    shift
    for file; do cp "$tmp/$file" "$tmp/$package"; done
    sed -i "s#\"k8s.io/kubernetes/pkg/controller\(/replicaset\)\?\"#\"$copy/controller\1\"#; s#$copy/controller/#$copy/#" "$tmp/$package"/*.go
    for file in "$tmp/$package"/*.go; do
        echo "\"$PWD/patched/$package/$(basename "$file")\": \"$file\"," >>"$tmp/files"
    done
}
mkdir "$tmp/controller"
overlay replicaset replica_set.go victims.go
overlay replication
cp "$controller"/*.go "$tmp/controller"
cp "$tmp"/{controller_utils,less}.go "$tmp/controller"
for file in "$tmp"/controller/*.go; do
    echo "\"$PWD/patched/controller/$(basename "$file")\": \"$file\"," >>"$tmp/files"
done
echo "{\"Replace\": {$(sed '$s/,$//' "$tmp/files")}}" >"$tmp/overlay.json"

# Their tests import a little more than the judge does.
cp go.mod go.sum "$tmp"
sed -i "s|=> ../$|=> $module|" "$tmp/go.mod"
for engine in podrank_c podrank_go; do # The first is no tag that means anything.
    for package in controller replicaset replication; do
        program=$tmp/$package.test
        quietly "$GO" test -c -vet=off -mod=mod -modfile "$tmp/go.mod" -overlay "$tmp/overlay.json" -tags "$engine" -o "$program" "./patched/$package"
        tests=.
        # The rest of this package has nothing to do with the order.
        [ "$package" != controller ] || tests='Sort|Active|Rank'
        for order in total kubernetes; do
            (cd "$tmp" && PODRANK_ORDER=$order quietly "$program" -test.v -test.run "$tests" -test.timeout 300s)
            passed=$(grep -c '^--- PASS' "$tmp/output" || true)
            [ "$passed" -gt 0 ] || fail "$package has no tests"
            summary="${summary:-} $package:$passed"
        done
        # These tests fail if podrank reverses the order, decides nothing or sees no ranks. They run often, because a random order
        # and random UIDs make some runs pass.
        [ "$package" != replication ] || continue
        for order in reversed no-decision no-ranks; do
            ! (cd "$tmp" && PODRANK_ORDER=$order "$program" -test.run 'TestGetPodsToDelete|Sort' -test.count 30 -test.timeout 300s >"$tmp/output" 2>&1) ||
                fail "$package passes with the order $order, too"
            grep -q '^--- FAIL' "$tmp/output" || { cat "$tmp/output" >&2; fail "$package with the order $order: no test fails"; }
        done
    done
done
ok "$(basename "$kubernetes"), tests passed:$summary"
