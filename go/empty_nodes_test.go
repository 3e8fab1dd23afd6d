package podrank

import (
	"fmt"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// onNode is a ready pod of a controller.
func onNode(name, node, kind, controller string) *corev1.Pod {
	pod, is := named(name, 0), true
	pod.UID, pod.Spec.NodeName = types.UID(name), node
	if kind != "" {
		pod.OwnerReferences = []metav1.OwnerReference{{Kind: kind, UID: types.UID(controller), Controller: &is}}
	}
	return pod
}

// Those of the set itself do not count, nor those that leave with the node, that have ended or that have none.
func TestNeighbours(t *testing.T) {
	own := []*corev1.Pod{onNode("web-1", "a", "ReplicaSet", "web")}
	ended := onNode("done", "a", "Job", "done")
	ended.Status.Phase = corev1.PodSucceeded
	pods := append(own, ended, onNode("agent", "a", "DaemonSet", "agent"), onNode("mirror", "a", "Node", "a"),
		onNode("bare", "b", "", ""), onNode("new", "", "ReplicaSet", "db"), onNode("db-0", "b", "StatefulSet", "db"))
	if got, want := Neighbours(pods, own), []Neighbour{{"b", "bare"}, {"b", "db"}}; !slices.Equal(got, want) {
		t.Errorf("%v, not %v", got, want)
	}
}

// Equally good nodes are ordered by IsFirst, then by the zone with the most pods, and then by name.
func TestEmptyNodesOfEqualWorth(t *testing.T) {
	var own []*corev1.Pod
	for i, node := range []string{"a", "b", "c", "d", "e"} {
		own = append(own, onNode(fmt.Sprint("web-", i), node, "ReplicaSet", "web"))
	}
	order := func(of EmptyNodes) (nodes string) {
		t.Helper()
		victims, err := PodsToDelete(own, own, len(own), WithNow(noon), WithEmptyNodes(of))
		if err != nil {
			t.Fatal(err)
		}
		for _, pod := range victims {
			nodes += pod.Spec.NodeName
		}
		return nodes
	}
	zone := func(node string) string { return map[string]string{"c": "2", "d": "2", "e": "2"}[node] }
	for want, of := range map[string]EmptyNodes{
		"abcde": {},
		"dabce": {IsFirst: func(node string) bool { return node == "d" }},
		"cadbe": {Domains: []func(string) string{zone}},
		"dacbe": {Domains: []func(string) string{zone}, IsFirst: func(node string) bool { return node == "d" }},
		"bcdea": {Neighbours: []Neighbour{{"a", "db"}}},
		"cdeab": {Neighbours: []Neighbour{{"a", "db"}, {"b", "db"}}},
		"deabc": {Neighbours: []Neighbour{{"c", "db"}, {"b", "x"}, {"a", "x"}, {"z", "x"}}},
	} {
		if got := order(of); got != want {
			t.Errorf("%s, not %s: %+v", got, want, of)
		}
	}
}
