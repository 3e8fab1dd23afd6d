package podrank

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// onNode is a ready pod of a controller.
func onNode(name, node string, owner *metav1.OwnerReference) *corev1.Pod {
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID(name)},
		Spec:       corev1.PodSpec{NodeName: node},
		Status: corev1.PodStatus{Phase: corev1.PodRunning, Conditions: []corev1.PodCondition{{
			Type: corev1.PodReady, Status: corev1.ConditionTrue,
		}}},
	}
	if owner != nil {
		pod.OwnerReferences = []metav1.OwnerReference{*owner}
	}
	return pod
}

func owner(kind, uid string) *metav1.OwnerReference {
	is := true
	return &metav1.OwnerReference{Kind: kind, Name: uid, UID: types.UID(uid), Controller: &is}
}

// The nodes that become empty are counted by hand: of all choices of the pods that may go first, none empties more.
func TestEmptyNodes(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 8))
	emptied := 0
	for range 300 {
		var pods, own []*corev1.Pod
		add := func(count int, of *metav1.OwnerReference) (added []*corev1.Pod) {
			for range count {
				pod := onNode(fmt.Sprint("pod-", len(pods)), fmt.Sprint("node-", r.IntN(4)), of)
				pods, added = append(pods, pod), append(added, pod)
			}
			return added
		}
		own = add(3+r.IntN(6), owner("ReplicaSet", "web"))
		add(r.IntN(3), owner("DaemonSet", "agent"))
		add(r.IntN(2), owner("Node", "node-0"))
		foreign := append(add(r.IntN(3), owner("StatefulSet", "db")), add(r.IntN(2), nil)...)
		ended := add(1, owner("Job", "done"))[0]
		ended.Status.Phase = corev1.PodSucceeded
		k := r.IntN(len(own) + 1)
		empty := func(gone func(i int) bool) (count int) {
			for node := range 4 {
				name, has, stays := fmt.Sprint("node-", node), false, false
				for i, pod := range own {
					has = has || pod.Spec.NodeName == name
					stays = stays || pod.Spec.NodeName == name && !gone(i)
				}
				for _, pod := range foreign {
					stays = stays || pod.Spec.NodeName == name
				}
				if has && !stays {
					count++
				}
			}
			return count
		}
		best := 0
		for choice := range 1 << len(own) {
			ones := 0
			for i := range own {
				ones += choice >> i & 1
			}
			if ones == k {
				best = max(best, empty(func(i int) bool { return choice>>i&1 == 1 }))
			}
		}
		victims, err := PodsToDelete(own, own, k, WithNow(noon), WithEmptyNodes(EmptyNodes{Neighbours: Neighbours(pods, own)}))
		if err != nil {
			t.Fatal(err)
		}
		if got := empty(func(i int) bool { return slices.Contains(victims, own[i]) }); got != best || len(victims) != k {
			t.Fatalf("%d nodes empty, not %d, with %d victims of %d", got, best, len(victims), k)
		}
		emptied += best
	}
	if emptied < 100 {
		t.Errorf("only %d nodes could become empty", emptied)
	}
}

// Of nodes that are as good, the first are those that go first, then those of the zone with the most pods, and then by name.
func TestEmptyNodesOfEqualWorth(t *testing.T) {
	var own []*corev1.Pod
	for i, node := range []string{"a", "b", "c", "d", "e"} {
		own = append(own, onNode(fmt.Sprint("web-", i), node, owner("ReplicaSet", "web")))
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
