package podrank

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/podrank/podrank/go/internal/core"
	"github.com/podrank/podrank/go/internal/engine"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

var noon = time.Date(2026, 3, 10, 12, 0, 0, 0, time.UTC)

// some makes n pods that differ in what the order asks.
func some(n int) []*corev1.Pod {
	r := rand.New(rand.NewPCG(1, uint64(n)))
	pods := make([]*corev1.Pod, n)
	for i := range pods {
		pods[i] = named(fmt.Sprint("p", i), uint32(i+1))
		p := pods[i]
		p.Spec.NodeName = fmt.Sprint("n", r.IntN(1+n/3))
		p.CreationTimestamp = metav1.NewTime(noon.Add(-time.Duration(1+r.IntN(9)) * time.Hour))
		p.Status.Conditions[0].LastTransitionTime = p.CreationTimestamp
		p.Status.ContainerStatuses = []corev1.ContainerStatus{{RestartCount: int32(r.IntN(3))}}
		if r.IntN(4) == 0 {
			p.Annotations = map[string]string{corev1.PodDeletionCost: fmt.Sprint(r.IntN(3))}
		}
	}
	return pods
}

// named is a ready pod.
func named(name string, uid uint32) *corev1.Pod {
	pod := &corev1.Pod{}
	pod.Name, pod.Namespace, pod.UID = name, "shop", types.UID(fmt.Sprintf("%08x-0000-4000-8000-000000000000", uid))
	pod.Spec.NodeName = "n"
	pod.Status.Phase = corev1.PodRunning
	pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
	return pod
}

func names(pods []*corev1.Pod) []string {
	names := []string{}
	for _, pod := range pods {
		names = append(names, pod.Name)
	}
	return names
}

func toDelete(t *testing.T, active, related []*corev1.Pod, diff int, options ...Option) []string {
	t.Helper()
	victims, err := PodsToDelete(active, related, diff, options...)
	if err != nil {
		t.Fatal(err)
	}
	return names(victims)
}

func TestErrorsNameThePodAndChooseNothing(t *testing.T) {
	for _, c := range []struct {
		text  string
		is    error
		spoil func([]*corev1.Pod)
	}{
		{" is nil", ErrNil, func(pods []*corev1.Pod) { pods[2] = nil }},
		{" (shop/p2): phase Succeeded", ErrInactive, func(pods []*corev1.Pod) { pods[2].Status.Phase = corev1.PodSucceeded }},
		{" (shop/p2): phase Failed", ErrInactive, func(pods []*corev1.Pod) { pods[2].Status.Phase = corev1.PodFailed }},
		{" (shop/p2): it is being deleted", ErrInactive, func(pods []*corev1.Pod) { pods[2].DeletionTimestamp = &metav1.Time{} }},
	} {
		pods := some(4)
		c.spoil(pods)
		is := func(err error, list string, index int) {
			t.Helper()
			var wrong *PodError
			place := list
			if index >= 0 {
				place = fmt.Sprintf("%s[%d]", list, index)
			}
			if want := "podrank: " + place + c.text; err == nil || err.Error() != want || !errors.Is(err, c.is) {
				t.Errorf("%v, want %s", err, want)
			}
			if !errors.As(err, &wrong) || wrong.List != list || wrong.Index != index || (c.is != ErrNil) != (wrong.Name == "p2") {
				t.Errorf("%+v", wrong)
			}
		}
		// All would go, too.
		for _, diff := range []int{1, 4, 9} {
			victims, err := PodsToDelete(pods, nil, diff, Kubernetes())
			is(err, "active", 2)
			if victims != nil {
				t.Errorf("%v", names(victims))
			}
			for function, decide := range decisions {
				if function != "Explain" {
					is(decide(pods, diff), "active", 2)
				}
			}
		}
		_, err := Predict(pods, nil, 0)
		is(err, "active", 2)
		_, err = Explain(pods[0], pods[2], nil)
		is(err, "b", -1)
		_, _, _, err = Availability(pods, 0, noon)
		is(err, "active", 2)
	}
	// Beyond the pods that are loaded ahead, the place is the list's.
	for _, index := range []int{15, 16, 17, 33, 47} {
		pods := some(48)
		pods[index] = nil
		var wrong *PodError
		if _, err := PodsToDelete(pods, pods, 1); !errors.As(err, &wrong) || wrong.Index != index {
			t.Errorf("%v, want the place %d", err, index)
		}
	}
	// An error does not affect the next decision.
	r, pods := NewRanker(WithNow(noon)), some(4)
	want := toDelete(t, pods, pods, 2, WithNow(noon))
	if _, err := r.PodsToDelete([]*corev1.Pod{nil}, nil, 1); err == nil {
		t.Error("nil pod: no error")
	}
	if got, err := r.PodsToDelete(pods, pods, 2); err != nil || !slices.Equal(names(got), want) {
		t.Errorf("%v, %v, want %v", names(got), err, want)
	}
}

func TestHowMany(t *testing.T) {
	pods := some(600)
	all := toDelete(t, pods, pods, 600, WithNow(noon))
	none := Option(func(*settings) {})
	for _, c := range []struct {
		diff  int
		burst Option
		want  int
	}{
		{-1, none, 0}, {0, none, 0}, {1, none, 1}, {599, none, 599}, {600, none, 600}, {601, none, 600}, {math.MaxInt, none, 600},
		{600, WithBurst(BurstReplicas), 500}, {7, WithBurst(BurstReplicas), 7}, {9, WithBurst(3), 3}, {-9, WithBurst(3), 0},
		{9, WithBurst(0), 0}, {9, WithBurst(-1), 0}, {600, WithBurst(-1), 0},
	} {
		if got := toDelete(t, pods, pods, c.diff, WithNow(noon), c.burst, Kubernetes()); len(got) != c.want {
			t.Errorf("%+v: %d go", c, len(got))
		}
		if got := toDelete(t, pods, pods, c.diff, WithNow(noon), c.burst); !slices.Equal(got, all[:c.want]) {
			t.Errorf("%+v: %d go, or not the first of the order", c, len(got))
		}
		s, err := Predict(pods, pods, c.diff, WithNow(noon), c.burst)
		if err != nil || len(s.Deleted)+s.Quota != c.want {
			t.Errorf("%+v: %d certain and %d more go, %v", c, len(s.Deleted), s.Quota, err)
		}
	}
	if got := toDelete(t, nil, pods, 3); len(got) != 0 {
		t.Errorf("of no pods, %v go", got)
	}
	// Where nothing is to be deleted, nothing is looked at, as in Kubernetes.
	if got := toDelete(t, []*corev1.Pod{nil}, nil, 0); len(got) != 0 {
		t.Errorf("%v", got)
	}
}

// short is an engine that chooses one pod too few.
type short struct{ core.Engine }

func (e short) Select(records []core.Pod, options core.Options, victims []uint32, scratch *[]core.Scratch) (int, error) {
	return e.Engine.Select(records, options, victims[:len(victims)-1], scratch)
}

func TestFewerVictimsThanAskedForAreAnError(t *testing.T) {
	defer func(whole core.Engine) { engine.Current = whole }(engine.Current)
	engine.Current = short{engine.Current}
	pods := some(9)
	victims, err := PodsToDelete(pods, pods, 5)
	if victims != nil || err == nil || err.Error() != "podrank: the core chose 4 of 5 pods" {
		t.Errorf("%d victims, %v", len(victims), err)
	}
}

func TestTheInputStaysAsItIs(t *testing.T) {
	active, related := some(100), append(some(50), &corev1.Pod{})
	var was, wasRelated []*corev1.Pod
	for _, pod := range active {
		was = append(was, pod.DeepCopy())
	}
	for _, pod := range related {
		wasRelated = append(wasRelated, pod.DeepCopy())
	}
	for _, order := range [][]Option{nil, {Kubernetes()}} {
		toDelete(t, active, related, 60, order...)
	}
	if !reflect.DeepEqual(active, was) || !reflect.DeepEqual(related, wasRelated) {
		t.Error("a list or a pod changed")
	}
}

func TestNothingIsAllocatedOnceWarm(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector drops pooled memory at random")
	}
	pods := some(500)
	related := append(some(100), pods...)
	for _, options := range [][]Option{nil, {WithNow(noon)}, {Kubernetes()}, {WithPreferForScaleDown(true), WithBurst(7)}, {WithClock(time.Now)}} {
		r := NewRanker(options...)
		victims := make([]*corev1.Pod, 0, 500)
		decide := func() {
			// Fewer and more, all and few.
			for _, n := range []int{500, 3, 100} {
				for _, diff := range []int{n / 2, n} {
					if _, err := r.AppendPodsToDelete(victims, pods[:n], related, diff); err != nil {
						t.Fatal(err)
					}
				}
			}
		}
		decide()
		if allocated := testing.AllocsPerRun(100, decide); allocated != 0 {
			t.Errorf("%d options: %v allocations", len(options), allocated)
		}
	}
}

// What is returned is the caller's: it has no spare capacity that a later call writes into, and it may be given back.
func TestResultsAreTheCallers(t *testing.T) {
	a, b, d := named("a", 1), named("b", 2), named("d", 3)
	b.Spec.NodeName, d.Spec.NodeName = "m", "m"
	r, all := NewRanker(WithNow(noon)), []*corev1.Pod{a, b, d}
	first, err := r.PodsToDelete(all, all, 3)
	if err != nil || !slices.Equal(names(first), []string{"b", "d", "a"}) {
		t.Fatalf("%v, %v", names(first), err)
	}
	second, err := r.PodsToDelete(first, nil, 3)
	if err != nil || !slices.Equal(names(second), []string{"a", "b", "d"}) || !slices.Equal(names(first), []string{"b", "d", "a"}) {
		t.Errorf("%v of %v, %v", names(second), names(first), err)
	}
	for k := range 10 {
		pods := some(9)
		victims, err := r.PodsToDelete(pods, pods, k)
		prediction, errPredict := Predict(pods, pods, k, WithNow(noon))
		if err != nil || errPredict != nil {
			t.Fatal(err, errPredict)
		}
		for _, list := range [][]*corev1.Pod{victims, prediction.Deleted, prediction.Possible, prediction.Kept} {
			if len(list) != cap(list) {
				t.Errorf("deleting %d: %d pods in room for %d", k, len(list), cap(list))
			}
		}
	}
}

// The list that victims are appended to may be in the memory of the pods that they are chosen from.
func TestVictimsAreAppended(t *testing.T) {
	pods := some(20)
	want := toDelete(t, pods, pods, 5, WithNow(noon))
	r := NewRanker(WithNow(noon))
	first := []*corev1.Pod{named("first", 99)}
	got, err := r.AppendPodsToDelete(first, pods, pods, 5)
	if err != nil || !slices.Equal(names(got), append([]string{"first"}, want...)) {
		t.Errorf("%v, %v, want %v", names(got), err, want)
	}
	got, err = r.AppendPodsToDelete(pods[:0], pods, pods, 5)
	if err != nil || !slices.Equal(names(got), want) {
		t.Errorf("in place: %v, %v, want %v", names(got), err, want)
	}
	got, err = r.AppendPodsToDelete(first, []*corev1.Pod{nil}, nil, 1)
	if err == nil || len(got) != 1 || got[0] != first[0] {
		t.Errorf("%v, %v", got, err)
	}
}

// The memory of a decision has no pods and no names of theirs in it afterwards.
func TestMemoryIsFreeOfPods(t *testing.T) {
	w, pods := new(work), some(9)
	for i, pod := range pods {
		pod.Spec.NodeName = fmt.Sprint("node-", i)
	}
	all := func(*corev1.Pod) string { return "all" }
	w.settings = &settings{domains: []func(*corev1.Pod) string{node, all}}
	for _, diff := range []int{9, 3} {
		chosen, err := w.choose(pods, pods, diff)
		if err != nil || len(chosen) != diff {
			t.Fatal(chosen, err)
		}
		for _, name := range w.nodes.names[:cap(w.nodes.names)] {
			if name != "" {
				t.Errorf("the name %s is held", name)
			}
		}
	}
	w.victims = append(w.victims, pods...)
	w.free()
	for _, pod := range w.victims[:cap(w.victims)] {
		if pod != nil {
			t.Errorf("%s is held", pod.Name)
		}
	}
	if w.settings != nil {
		t.Error("options are held, and with them what their functions hold")
	}
}

// Three pods that Kubernetes' comparison puts in a cycle, one that is certainly deleted and one that is certainly kept.
func circle() (pods []*corev1.Pod) {
	for i, c := range []struct {
		uid      uint32
		seconds  int
		restarts int32
	}{{1, 1, 0}, {3, 1, 5}, {2, 0, 0}} {
		pod := named(string("xyz"[i]), c.uid)
		pod.Status.Conditions[0].LastTransitionTime = metav1.NewTime(noon.Add(time.Duration(c.seconds) * time.Second))
		pod.Status.ContainerStatuses = []corev1.ContainerStatus{{RestartCount: c.restarts}}
		pods = append(pods, pod)
	}
	first, last := named("first", 9), named("last", 0)
	first.Status.Phase, last.Annotations = corev1.PodPending, map[string]string{corev1.PodDeletionCost: "1"}
	return append(pods, last, first)
}

func TestExplain(t *testing.T) {
	pods := circle()
	e, err := Explain(pods[2], pods[1], nil, WithNow(noon.Add(time.Hour)))
	if err != nil || e.First != 1 || e.Rule != "restarts" {
		t.Fatalf("%+v, %v", e, err)
	}
	var rules []string
	for _, row := range e.Rows {
		rules = append(rules, string(row.Rule))
	}
	want := []string{"unassigned", "phase", "not-ready", "tier", "deletion-cost", "rank", "preferred", "ready-time",
		"restarts", "sidecar-restarts", "creation-time", "uid"}
	if !slices.Equal(rules, want) {
		t.Errorf("%v", rules)
	}
	if row := e.Rows[8]; row != (Row{Rule: "restarts", Applies: true, First: 1, Decides: true, Kind: KindNumber, A: 0, B: 5}) {
		t.Errorf("%+v", row)
	}
	if row := e.Rows[7]; row.Kind != KindAgeBucket || row.A != 41 || row.B != 41 || row.First != 0 {
		t.Errorf("%+v", row)
	}
	// A library of the system may be newer than this module.
	if rule := ruleOf(11); rule != "Rule(11)" {
		t.Errorf("rule 11 is %q", rule)
	}
	same, err := Explain(pods[0], pods[0], nil)
	if err != nil || same.First != 0 || same.Rule != "" {
		t.Errorf("%+v, %v", same, err)
	}
}

// A zero Ranker has the defaults.
func TestZeroRanker(t *testing.T) {
	var r Ranker
	pods := some(20)
	got, err := r.PodsToDelete(pods, pods, 5)
	if err != nil || !slices.Equal(names(got), toDelete(t, pods, pods, 5)) {
		t.Errorf("%v, %v", names(got), err)
	}
}

// Rankers on the same pods, as the workers of a controller have, one that they share among them.
func TestRankersRunAtOnce(t *testing.T) {
	pods := some(300)
	want := toDelete(t, pods, pods, 100, WithNow(noon))
	var group sync.WaitGroup
	shared := NewRanker(WithNow(noon))
	few := toDelete(t, pods[:7], pods, 3, WithNow(noon))
	for range 8 {
		group.Add(1)
		go func() {
			defer group.Done()
			for _, r := range []*Ranker{shared, NewRanker(WithNow(noon))} {
				for range 50 {
					got, err := r.PodsToDelete(pods, pods, 100)
					less, errLess := r.PodsToDelete(pods[:7], pods, 3)
					if err != nil || errLess != nil || !slices.Equal(names(got), want) || !slices.Equal(names(less), few) {
						t.Errorf("%v, %v", names(got), err)
						return
					}
				}
			}
		}()
	}
	group.Wait()
}

func TestTimes(t *testing.T) {
	for _, c := range []struct {
		time time.Time
		want int64
	}{
		{time.Unix(0, 0), 0},
		{time.Unix(0, -1), -1},
		{time.Unix(-5, 3), -4_999_999_997},
		{time.Time{}, -1 << 63},
		{time.Time{}.In(time.FixedZone("east", 3600)), -1 << 63},
		{time.Unix(0, 1<<63-1), 1<<63 - 1},
		{time.Unix(0, 1<<63-1).Add(1), 1<<63 - 1},
		{time.Unix(0, -1<<63), -1<<63 + 1},
		{time.Unix(0, -1<<63+1), -1<<63 + 1},
		{time.Unix(0, -1<<63+2), -1<<63 + 2},
		{time.Date(3000, 1, 1, 0, 0, 0, 0, time.UTC), 1<<63 - 1},
		{time.Date(1000, 1, 1, 0, 0, 0, 0, time.UTC), -1<<63 + 1},
	} {
		if got := nanos(&metav1.Time{Time: c.time}); got != c.want {
			t.Errorf("%v: %d, want %d", c.time, got, c.want)
		}
	}
}

func TestLibraryVersion(t *testing.T) {
	if LibraryVersion() == "" || Engine() == "" {
		t.Error("no version")
	}
}

// Of several options that say the same, the last counts.
func TestTheLastOptionCounts(t *testing.T) {
	cheap, dear, liked := named("cheap", 2), named("dear", 1), named("liked", 3)
	dear.Annotations = map[string]string{corev1.PodDeletionCost: "9"}
	liked.Labels, liked.Annotations = map[string]string{PreferForScaleDownLabel: "false"}, dear.Annotations
	// Two hours old and three: one power of two, and the UID decides, unless ages are compared as they are.
	old, young := named("old", 1), named("young", 2)
	old.CreationTimestamp, young.CreationTimestamp = metav1.NewTime(noon.Add(-181*time.Minute)), metav1.NewTime(noon.Add(-160*time.Minute))
	costs, labels, ages := []*corev1.Pod{cheap, dear}, []*corev1.Pod{dear, liked}, []*corev1.Pod{old, young}
	never := WithClock(func() time.Time { return time.Time{} })
	for _, c := range []struct {
		pods    []*corev1.Pod
		want    string
		options []Option
	}{
		{costs, "cheap", nil}, {costs, "dear", []Option{WithPodDeletionCost(false)}},
		{costs, "cheap", []Option{WithPodDeletionCost(false), WithPodDeletionCost(true)}},
		{labels, "dear", nil}, {labels, "dear", []Option{WithPreferForScaleDown(true), WithPreferForScaleDown(false)}},
		// Nothing tells them apart in Kubernetes, and the possible go by the total order.
		{labels, "liked", []Option{WithPreferForScaleDown(true), Kubernetes()}},
		// By the clock, both have the same great age.
		{ages, "old", nil}, {ages, "old", []Option{WithNow(noon)}}, {ages, "young", []Option{WithNow(noon), never}},
		{ages, "young", []Option{WithNow(noon), WithLogarithmicScaleDown(false)}},
		{ages, "old", []Option{never, WithNow(noon)}}, {ages, "old", []Option{never, WithClock(time.Now)}},
	} {
		if got := toDelete(t, c.pods, nil, 1, c.options...); got[0] != c.want {
			t.Errorf("%v goes, want %s", got, c.want)
		}
	}
}

// The possible go by the total order, y with its restarts first.
func TestKubernetesOrder(t *testing.T) {
	pods, now := circle(), WithNow(noon.Add(time.Hour))
	if got := toDelete(t, pods, nil, 3, now, Kubernetes()); !slices.Equal(got, []string{"first", "y", "x"}) {
		t.Errorf("%v", got)
	}
	s, err := Predict(pods, nil, 4, now, WithBurst(2))
	if err != nil || !slices.Equal(names(s.Deleted), []string{"first"}) || !slices.Equal(names(s.Kept), []string{"last"}) || s.Quota != 1 {
		t.Errorf("%+v, %v", s, err)
	}
}

// Options keep no slice of the caller's.
func TestOptionsAreTheirOwn(t *testing.T) {
	domains := []func(*corev1.Pod) string{node}
	levels := []func(string) string{func(node string) string { return node }}
	options := []Option{WithSpread(domains...), WithEmptyNodes(EmptyNodes{Domains: levels})}
	domains[0], levels[0] = nil, nil
	for _, option := range options {
		toDelete(t, some(3), nil, 1, option)
	}
	// The neighbour keeps node a from being empty.
	pods, neighbours := some(2), []Neighbour{{Node: "a", Set: "other"}}
	pods[0].Spec.NodeName, pods[1].Spec.NodeName = "a", "b"
	option := WithEmptyNodes(EmptyNodes{Neighbours: neighbours})
	neighbours[0].Node = "b"
	if victims := toDelete(t, pods, nil, 1, option); victims[0] != pods[1].Name {
		t.Error("the neighbours are the caller's")
	}
}

// A pod without a node is in no domain, and a function that looks at the node need not know what to do.
func TestSpreadWithoutNode(t *testing.T) {
	pods := some(3)
	for i, name := range []string{"", "a1", "a2"} {
		pods[i].Spec.NodeName = name
	}
	zone := func(pod *corev1.Pod) string { return pod.Spec.NodeName[:1] }
	if victims := toDelete(t, pods, pods, 1, WithSpread(zone)); victims[0] != pods[0].Name {
		t.Errorf("%s is deleted first", victims[0])
	}
}

func TestNoPod(t *testing.T) {
	none := []*corev1.Pod{nil}
	if Neighbours(none, none) != nil || RecordOf(nil) != (Record{}) || Slim(nil) != nil {
		t.Error("something is made of no pod")
	}
}
