package podrank_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	podrank "github.com/podrank/podrank/go"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
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

// byName gives the tiers of pods by name; the others are in tier 9.
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

func TestBlockedPods(t *testing.T) {
	pods := []*corev1.Pod{pod("first", 1, 0, 0), pod("unready", 2, 0, 0), pod("pending", 3, 0, 0), pod("new", 4, 0, 0), pod("last", 5, 0, 0)}
	pods[1].Status.Conditions = nil
	pods[2].Status.Phase = corev1.PodPending
	pods[3].Spec.NodeName = ""
	blocked, err := podrank.BlockedPods(pods, byName(map[string]int{"first": 0}))
	if err != nil {
		t.Fatal(err)
	}
	got := ""
	for _, b := range blocked {
		got += fmt.Sprintf("%s before %s: %s\n", b.Pod.Name, b.Before.Name, b.Rule)
	}
	if want := "unready before first: not-ready\npending before first: phase\nnew before first: unassigned\n"; got != want {
		t.Errorf("%s, want %s", got, want)
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

// Spreading is taking one pod at a time and counting the rest anew, on nodes alone; over zones, every zone sends its own.
func TestSpreadCountsAnew(t *testing.T) {
	for round := range 300 {
		r := rand.New(rand.NewPCG(1, uint64(round)))
		var active, related []*corev1.Pod
		for i := range 2 + r.IntN(12) {
			p := pod(fmt.Sprint(i), i, r.IntN(3), int32(r.IntN(3)))
			p.Spec.NodeName = []string{"a1", "a2", "b1", "b2"}[r.IntN(4)]
			related = append(related, p)
			if r.IntN(4) > 0 {
				active = append(active, p)
			}
		}
		inOneZone := func(p *corev1.Pod) bool { return len(active) > 0 && zone(p) == zone(active[0]) }
		for name, keep := range map[string]func(*corev1.Pod) bool{"nodes": func(*corev1.Pod) bool { return true }, "zone": inOneZone} {
			own := slices.Clone(active)
			own = slices.DeleteFunc(own, func(p *corev1.Pod) bool { return !keep(p) })
			left, others, want := slices.Clone(own), slices.Clone(related), []*corev1.Pod{}
			for len(left) > 0 {
				victims, err := podrank.PodsToDelete(left, others, 1, podrank.WithNow(now))
				if err != nil {
					t.Fatal(err)
				}
				gone := func(p *corev1.Pod) bool { return p == victims[0] }
				want = append(want, victims[0])
				left, others = slices.DeleteFunc(left, gone), slices.DeleteFunc(others, gone)
			}
			// In one zone, its count decides nothing.
			options := []podrank.Option{podrank.WithNow(now), podrank.WithSpread()}
			if name == "zone" {
				options[1] = podrank.WithSpread(node, zone)
			}
			got, err := podrank.PodsToDelete(own, related, len(own), options...)
			if err != nil || names(got) != names(want) {
				t.Fatalf("round %d, %s: %s, %v, want %s", round, name, names(got), err, names(want))
			}
		}
	}
}

func TestZonesTakeTurns(t *testing.T) {
	on := func(name string, number int, node string) *corev1.Pod {
		p := pod(name, number, 0, 0)
		p.Spec.NodeName = node
		return p
	}
	// Zone a has three pods on two nodes, zone b two on one node.
	active := []*corev1.Pod{on("a1x", 1, "a1"), on("a2x", 2, "a2"), on("a2y", 3, "a2"), on("b1x", 4, "b1"), on("b1y", 5, "b1")}
	victims, err := podrank.PodsToDelete(active, active, 5, podrank.WithNow(now), podrank.WithSpread(node, zone))
	// a sends from its fuller node; then both zones have two, and the UID decides.
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

func TestRelatedPods(t *testing.T) {
	set := func(app, controller string) *appsv1.ReplicaSet {
		set := &appsv1.ReplicaSet{Spec: appsv1.ReplicaSetSpec{Selector: metav1.SetAsLabelSelector(labels.Set{"app": app})}}
		if controller != "" {
			yes := true
			set.OwnerReferences = []metav1.OwnerReference{{UID: types.UID(controller), Controller: &yes}}
		}
		return set
	}
	var pods podLister
	for i, app := range []string{"new", "old", "other", "new"} {
		pods = append(pods, pod(app, i, 0, 0))
		pods[i].Labels = map[string]string{"app": app}
	}
	invalid := set("", "d")
	invalid.Spec.Selector.MatchExpressions = []metav1.LabelSelectorRequirement{{Key: "app", Operator: "Near"}}
	old, bare := set("old", "d"), set("other", "")
	none := int32(0)
	old.Spec.Replicas, old.DeletionTimestamp = &none, &metav1.Time{Time: now}
	sets := setLister{set("new", "d"), old, invalid, set("other", "e"), bare, set("new", "d")}
	related, err := podrank.RelatedPods(sets[0], sets, pods)
	if err != nil || names(related) != "new new old" || cap(related) != 3 {
		t.Error(names(related), cap(related), err)
	}
	// Fakes may lack UIDs. Then their names tell them apart.
	pods[0].UID, pods[3].UID, pods[3].Name = "", "", "new-2"
	if related, err := podrank.RelatedPods(sets[0], sets, pods); err != nil || len(related) != 3 {
		t.Error(names(related), err)
	}
	if related, err := podrank.RelatedPods(bare, sets, pods); related != nil || err != nil {
		t.Error(names(related), err)
	}
	if _, err := podrank.RelatedPods(sets[0], sets, brokenLister{}); err == nil || !strings.Contains(err.Error(), "no cache") {
		t.Error(err)
	}
}
