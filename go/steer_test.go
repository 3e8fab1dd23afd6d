package podrank_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	podrank "github.com/podrank/podrank/go"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// cost gives a pod a deletion cost.
func cost(pod *corev1.Pod, cost string) *corev1.Pod {
	pod.Annotations = map[string]string{corev1.PodDeletionCost: cost}
	return pod
}

func names(pods []*corev1.Pod) string {
	var all []string
	for _, pod := range pods {
		all = append(all, pod.Name)
	}
	return strings.Join(all, " ")
}

// byName gives the tiers of pods by name. Pods without an entry are in tier 9.
func byName(tiers map[string]int) podrank.Option {
	return podrank.WithTier(func(pod *corev1.Pod) int {
		if tier, ok := tiers[pod.Name]; ok {
			return tier
		}
		return 9
	})
}

func TestSteer(t *testing.T) {
	pods := []*corev1.Pod{pod("a", 1, 0, 0), pod("b", 2, 0, 0), cost(pod("c", 3, 0, 0), "x"), cost(pod("d", 4, 0, 0), "7")}
	show := func(changes []podrank.Change) (text string) {
		for _, change := range changes {
			text += fmt.Sprintf("%s %d ", change.Pod.Name, change.Cost)
		}
		return text
	}
	fixed := podrank.WithFixed(func(pod *corev1.Pod) bool { return pod.Name == "a" })
	for _, c := range []struct {
		name, want string
		options    []podrank.Option
	}{
		{"no tiers", "", nil},
		{"one first", "b -1 ", []podrank.Option{byName(map[string]int{"b": 0})}},
		{"one last, as it is", "", []podrank.Option{byName(map[string]int{"a": 0, "b": 0, "c": 0})}},
		{"three first", "b -1 c -1 d -1 ", []podrank.Option{byName(map[string]int{"b": 0, "c": 0, "d": 0}), fixed}},
		{"what is fixed stays", "b 7 c 7 ", []podrank.Option{byName(map[string]int{"a": 0}), fixed}},
	} {
		changes, err := podrank.Steer(pods, c.options...)
		if got := show(changes); err != nil || got != c.want {
			t.Errorf("%s: %q, %v, want %q", c.name, got, err, c.want)
		}
		if len(changes) != cap(changes) {
			t.Errorf("%s: %d changes in room for %d", c.name, len(changes), cap(changes))
		}
	}

	_, err := podrank.Steer(pods, byName(map[string]int{"d": 0}), podrank.WithFixed(func(*corev1.Pod) bool { return true }))
	noRoom := (*podrank.NoRoomError)(nil)
	if !errors.As(err, &noRoom) || noRoom.Lower.Name != "d" || noRoom.Higher.Name == "d" || !strings.Contains(err.Error(), "shop/d") {
		t.Error(err)
	}
	for _, price := range []int{-1, 0, 255} {
		_, err := podrank.Steer(pods, podrank.WithPrice(func(*corev1.Pod) int { return price }))
		if want := fmt.Sprintf("active[0] (shop/a): price %d", price); !errors.Is(err, podrank.ErrOutOfRange) || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	for _, tier := range []int{-1, 65_536} {
		_, err := podrank.Steer(pods, byName(map[string]int{"c": tier}))
		if want := fmt.Sprintf("active[2] (shop/c): tier %d", tier); !errors.Is(err, podrank.ErrOutOfRange) || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	if _, err := podrank.Steer(pods, podrank.WithPodDeletionCost(false)); !errors.Is(err, podrank.ErrOption) || !strings.Contains(err.Error(), "PodDeletionCost") {
		t.Error(err)
	}
	if changes, err := podrank.Steer(nil); changes != nil || err != nil {
		t.Error(changes, err)
	}
}

// The order follows tiers, too, and says so.
func TestTiersDecide(t *testing.T) {
	a, b := cost(pod("a", 1, 0, 0), "-5"), pod("b", 2, 0, 0)
	tiers := byName(map[string]int{"b": 3})
	victims, err := podrank.PodsToDelete([]*corev1.Pod{a, b}, nil, 1, tiers)
	if err != nil || names(victims) != "b" {
		t.Error(names(victims), err)
	}
	explanation, err := podrank.Explain(a, b, nil, tiers)
	if err != nil || explanation.Rule != "tier" || explanation.First != 1 {
		t.Error(explanation, err)
	}
}

func node(pod *corev1.Pod) string { return pod.Spec.NodeName }
func zone(pod *corev1.Pod) string { return pod.Spec.NodeName[:1] }

func TestZonesTakeTurns(t *testing.T) {
	on := func(name string, number int, node string) *corev1.Pod {
		p := pod(name, number, 0, 0)
		p.Spec.NodeName = node
		return p
	}
	// Zone a has three pods on two nodes, zone b two on one node.
	active := []*corev1.Pod{on("a1x", 1, "a1"), on("a2x", 2, "a2"), on("a2y", 3, "a2"), on("b1x", 4, "b1"), on("b1y", 5, "b1")}
	victims, err := podrank.PodsToDelete(active, active, 5, podrank.WithNow(now), podrank.WithSpread(node, zone))
	// The first pods of zone a are on its fuller node. Then both zones have two, and the UID decides.
	if got := names(victims); err != nil || got != "a2x a1x b1x a2y b1y" {
		t.Error(got, err)
	}
}

type setLister []*appsv1.ReplicaSet

func (l setLister) List(labels.Selector) ([]*appsv1.ReplicaSet, error) { return l, nil }

type podLister []*corev1.Pod

func (l podLister) List(selector labels.Selector) (selected []*corev1.Pod, err error) {
	for _, pod := range l {
		if selector.Matches(labels.Set(pod.Labels)) {
			selected = append(selected, pod)
		}
	}
	return selected, nil
}

type brokenLister struct{}

func (brokenLister) List(labels.Selector) ([]*corev1.Pod, error) { return nil, errors.New("no cache") }

// Fakes may lack UIDs: then their names tell them apart. judge/code compares the rest with Kubernetes.
func TestRelatedPods(t *testing.T) {
	yes := true
	set := &appsv1.ReplicaSet{ObjectMeta: metav1.ObjectMeta{OwnerReferences: []metav1.OwnerReference{{UID: "d", Controller: &yes}}}}
	set.Spec.Selector = &metav1.LabelSelector{}
	pods := podLister{pod("a", 1, 0, 0), pod("b", 1, 0, 0), pod("c", 3, 0, 0)}
	pods[0].UID, pods[2].UID = "", ""
	related, err := podrank.RelatedPods(set, setLister{set, set}, pods)
	if err != nil || names(related) != "a b c" || cap(related) != 3 {
		t.Error(names(related), cap(related), err)
	}
	if _, err := podrank.RelatedPods(set, setLister{set}, brokenLister{}); err == nil || !strings.Contains(err.Error(), "no cache") {
		t.Error(err)
	}
}
