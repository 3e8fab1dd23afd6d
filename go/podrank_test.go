package podrank

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"reflect"
	"runtime"
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
		_, err := Settle(pods, nil, 0)
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
	// The next decision is as good as new.
	r, pods := NewRanker(WithNow(noon)), some(4)
	want := toDelete(t, pods, pods, 2, WithNow(noon))
	if _, err := r.PodsToDelete([]*corev1.Pod{nil}, nil, 1); err == nil {
		t.Error("nil pod: no error")
	}
	if got, err := r.PodsToDelete(pods, pods, 2); err != nil || !slices.Equal(names(got), want) {
		t.Errorf("%v, %v, want %v", names(got), err, want)
	}
}

// A nil option is an error of every call, even where nothing would be looked at.
func TestANilOptionIsAnError(t *testing.T) {
	pods := some(2)
	domains := []func(*corev1.Pod) string{func(pod *corev1.Pod) string { return pod.Name }}
	kept := WithSpread(domains...)
	domains[0] = nil
	if _, err := PodsToDelete([]*corev1.Pod{named("a", 1)}, nil, 1, kept); err != nil {
		t.Errorf("the caller's slice was kept: %v", err)
	}
	for _, options := range [][]Option{{nil}, {WithNow(noon), nil, Kubernetes()}, {WithSpread(nil)}} {
		for diff := range 3 {
			for function, decide := range decisions {
				if err := decide(pods, diff, options...); !errors.Is(err, ErrNil) {
					t.Errorf("%s with %d options: %v", function, len(options), err)
				}
			}
		}
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
		{-1, none, 0}, {0, none, 0}, {1, none, 1}, {599, none, 599}, {600, none, 600}, {601, none, 600}, {1 << 40, none, 600},
		{600, WithBurst(BurstReplicas), 500}, {7, WithBurst(BurstReplicas), 7}, {9, WithBurst(3), 3}, {-9, WithBurst(3), 0},
		{9, WithBurst(0), 0}, {9, WithBurst(-1), 0}, {600, WithBurst(-1), 0},
	} {
		if got := toDelete(t, pods, pods, c.diff, WithNow(noon), c.burst, Kubernetes()); len(got) != c.want {
			t.Errorf("%+v: %d go", c, len(got))
		}
		if got := toDelete(t, pods, pods, c.diff, WithNow(noon), c.burst); !slices.Equal(got, all[:c.want]) {
			t.Errorf("%+v: %d go, or not the first of the order", c, len(got))
		}
		s, err := Settle(pods, pods, c.diff, WithNow(noon), c.burst)
		if err != nil || len(s.Certain)+s.Quota != c.want {
			t.Errorf("%+v: %d certain and %d more go, %v", c, len(s.Certain), s.Quota, err)
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

// A controller that waits for as many deletions as it has asked for must get as many victims, whatever the options are.
func TestThereAreExactlyAsManyVictimsOrAnError(t *testing.T) {
	for seed := range uint64(2000) {
		r := rand.New(rand.NewPCG(seed, 2))
		pods := some(1 + r.IntN(40))
		wrong := r.IntN(4) == 0
		if i := r.IntN(len(pods)); wrong {
			pods[i] = []*corev1.Pod{nil, {Status: corev1.PodStatus{Phase: corev1.PodFailed}}}[r.IntN(2)]
		}
		related := [][]*corev1.Pod{nil, pods, some(20)}[r.IntN(3)]
		diff, want := 1+r.IntN(len(pods)+3), len(pods)
		options := []Option{WithPodDeletionCost(r.IntN(2) == 0), WithLogarithmicScaleDown(r.IntN(2) == 0)}
		switch r.IntN(5) {
		case 0:
			options = append(options, Kubernetes())
		case 1:
			want = 1 + r.IntN(9)
			options = append(options, WithBurst(want))
		case 2:
			options = append(options, WithTier(func(pod *corev1.Pod) int { return int(pod.UID[7]) % 3 }))
		case 3:
			options = append(options, WithRanks(func(*corev1.Pod) int { return 7 }))
		}
		want = min(want, diff, len(pods))
		victims, err := PodsToDelete(pods, related, diff, options...)
		if wrong {
			want = 0
		}
		distinct := map[*corev1.Pod]bool{}
		for _, pod := range victims {
			distinct[pod] = slices.Contains(pods, pod)
		}
		if (err != nil) != wrong || len(victims) != want || len(distinct) != want || slices.Contains(slices.Collect(maps.Values(distinct)), false) {
			t.Fatalf("seed %d: %d victims, %d distinct, %v; want %d of %d", seed, len(victims), len(distinct), err, want, len(pods))
		}
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

func TestTheOrderOfTheInputDoesNotMatter(t *testing.T) {
	pods := some(100)
	related := append(some(40), pods...)
	want := toDelete(t, pods, related, 30, WithNow(noon))
	r, ranker := rand.New(rand.NewPCG(1, 2)), NewRanker(WithNow(noon))
	for range 200 {
		r.Shuffle(len(pods), func(i, j int) { pods[i], pods[j] = pods[j], pods[i] })
		r.Shuffle(len(related), func(i, j int) { related[i], related[j] = related[j], related[i] })
		if got, err := ranker.PodsToDelete(pods, related, 30); err != nil || !slices.Equal(names(got), want) {
			t.Fatalf("%v, %v, want %v", names(got), err, want)
		}
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
		settled, errSettle := Settle(pods, pods, k, WithNow(noon))
		if err != nil || errSettle != nil {
			t.Fatal(err, errSettle)
		}
		for _, list := range [][]*corev1.Pod{victims, settled.Certain, settled.Contested, settled.Safe} {
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

// Nothing is kept of pods that are long gone: not by the memory that decisions share, and not by a Ranker.
func TestNothingIsHeld(t *testing.T) {
	r := NewRanker(WithNow(noon))
	gone := make(chan struct{})
	func() {
		pods := some(9)
		runtime.SetFinalizer(pods[4], func(*corev1.Pod) { close(gone) })
		for _, diff := range []int{9, 3, 0} {
			if _, err := r.AppendPodsToDelete(nil, pods, pods, diff); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := r.PodsToDelete(append(pods, nil), pods, 1); err == nil {
			t.Error("nil pod: no error")
		}
	}()
	for range 50 {
		runtime.GC()
		select {
		case <-gone:
			runtime.KeepAlive(r)
			return
		case <-time.After(10 * time.Millisecond):
		}
	}
	t.Error("a pod is held")
}

// The memory of a decision has no pods and no names of theirs in it afterwards.
func TestMemoryIsFreeOfPods(t *testing.T) {
	w, pods := new(work), some(9)
	w.settings = &settings{}
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

func TestRanks(t *testing.T) {
	a, b, c, d := named("a", 1), named("b", 2), named("c", 3), named("d", 4)
	c.Spec.NodeName, d.Spec.NodeName = "m", "m"
	away, gone, done := named("e", 5), named("f", 6), named("g", 7)
	away.Spec.NodeName = "elsewhere"
	gone.DeletionTimestamp, done.Status.Phase = &metav1.Time{Time: noon}, corev1.PodFailed
	for _, c := range []struct {
		name    string
		active  []*corev1.Pod
		related []*corev1.Pod
		want    []string
	}{
		{"none counted: by UID", []*corev1.Pod{c, b, a}, nil, []string{"a", "b", "c"}},
		{"two on n", []*corev1.Pod{c, b, a}, []*corev1.Pod{a, b, c}, []string{"a", "b", "c"}},
		{"two on m", []*corev1.Pod{c, b, d}, []*corev1.Pod{c, b, d}, []string{"c", "d", "b"}},
		{"only the other's pods on m", []*corev1.Pod{c, a}, []*corev1.Pod{d}, []string{"c", "a"}},
		{"inactive ones on n", []*corev1.Pod{c, a}, []*corev1.Pod{gone, done, c, away}, []string{"c", "a"}},
		{"a pod listed twice counts twice", []*corev1.Pod{c, a}, []*corev1.Pod{c, a, c}, []string{"c", "a"}},
	} {
		if got := toDelete(t, c.active, c.related, len(c.active), WithNow(noon)); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
	// Pods on no node share one count, and go first all the same.
	x, y := named("x", 8), named("y", 9)
	x.Spec.NodeName, y.Spec.NodeName = "", ""
	explanation, err := Explain(x, a, []*corev1.Pod{x, y, a}, WithNow(noon))
	if err != nil || explanation.First != -1 || explanation.Rule != "unassigned" {
		t.Errorf("%+v, %v", explanation, err)
	}
	if row := explanation.Rows[5]; row.Rule != "rank" || row.A != 2 || row.B != 1 || row.Kind != KindNumber {
		t.Errorf("%+v", row)
	}
}

func TestGatesAndNow(t *testing.T) {
	cheap, dear := named("cheap", 2), named("dear", 1)
	dear.Annotations = map[string]string{corev1.PodDeletionCost: "9"}
	pair := []*corev1.Pod{cheap, dear}
	goes := func(want string, options ...Option) {
		t.Helper()
		if got := toDelete(t, pair, nil, 1, options...); got[0] != want {
			t.Errorf("%v goes, want %s", got, want)
		}
	}
	goes("cheap")
	goes("dear", WithPodDeletionCost(false))
	goes("cheap", WithPodDeletionCost(false), WithPodDeletionCost(true))

	liked, other := named("liked", 2), named("other", 1)
	liked.Labels = map[string]string{PreferForScaleDownLabel: "false"}
	pair = []*corev1.Pod{other, liked}
	goes("other")
	goes("liked", WithPreferForScaleDown(true))
	// Nothing tells them apart in Kubernetes, and the contested go by the total order.
	goes("liked", WithPreferForScaleDown(true), Kubernetes())
	if e, err := Explain(liked, other, nil); err != nil || e.Rows[6].A != 1 || e.Rows[6].B != 0 || e.Rows[6].Applies {
		t.Errorf("%+v, %v", e.Rows[6], err)
	}

	// Two hours old and three: one power of two, and the UID decides, unless ages are compared as they are.
	old, young := named("old", 1), named("young", 2)
	old.CreationTimestamp, young.CreationTimestamp = metav1.NewTime(noon.Add(-181*time.Minute)), metav1.NewTime(noon.Add(-160*time.Minute))
	pair = []*corev1.Pod{old, young}
	before := noon.Add(-30 * time.Minute)
	goes("old", WithNow(noon))
	goes("young", WithNow(time.Time{}))
	goes("young", WithNow(noon), WithLogarithmicScaleDown(false))
	// On the way through a power of two, 2.44 hours.
	goes("young", WithNow(before))
	goes("young", WithClock(func() time.Time { return time.Time{} }))
	// The clock: both have the same great age.
	goes("old")
	// The last counts.
	goes("young", WithNow(noon), WithClock(func() time.Time { return before }))
	goes("old", WithNow(time.Time{}), WithNow(noon))
	goes("old", WithNow(time.Time{}), WithClock(time.Now))

	// A clock is asked once in each decision, and goes on.
	at, asked := noon, 0
	r := NewRanker(WithClock(func() time.Time { asked++; return at }))
	for i, want := range []*corev1.Pod{old, young} {
		got, err := r.PodsToDelete(pair, nil, 1)
		if err != nil || got[0] != want || asked != i+1 {
			t.Errorf("%v goes, %v, want %s; asked %d times", names(got), err, want.Name, asked)
		}
		at = at.Add(-30 * time.Minute)
	}
}

// Three pods that Kubernetes' comparator puts in a circle, one that certainly goes and one that certainly stays.
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

func TestKubernetesOrder(t *testing.T) {
	pods, now := circle(), WithNow(noon.Add(time.Hour))
	for diff, want := range []struct{ certain, contested, safe, quota int }{
		{0, 0, 5, 0}, {1, 0, 4, 0}, {1, 3, 1, 1}, {1, 3, 1, 2}, {4, 0, 1, 0}, {5, 0, 0, 0}, {5, 0, 0, 0},
	} {
		s, err := Settle(pods, nil, diff, now)
		if err != nil {
			t.Fatal(err)
		}
		if got := [4]int{len(s.Certain), len(s.Contested), len(s.Safe), s.Quota}; got != [4]int{want.certain, want.contested, want.safe, want.quota} {
			t.Errorf("deleting %d: %v, want %v", diff, got, want)
		}
		all := slices.Concat(s.Certain, s.Contested, s.Safe)
		got := toDelete(t, pods, nil, diff, now, Kubernetes())
		if !slices.Equal(got, names(all)[:min(diff, 5)]) {
			t.Errorf("deleting %d: %v go of %v", diff, got, names(all))
		}
	}
	// The contested ones by the total order, y with its restarts first.
	if got := toDelete(t, pods, nil, 3, now, Kubernetes()); !slices.Equal(got, []string{"first", "y", "x"}) {
		t.Errorf("%v", got)
	}
	s, err := Settle(pods, nil, 4, now, WithBurst(2))
	if err != nil || len(s.Certain) != 1 || s.Quota != 1 {
		t.Errorf("%v, %v", s, err)
	}
	// Nobody who appends to a part writes into the next.
	_ = append(s.Certain, nil)
	if s.Contested[0] == nil {
		t.Error("Certain and Contested share room")
	}
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
