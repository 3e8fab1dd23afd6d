package upstream

import (
	"errors"
	"fmt"
	"math/rand"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"
)

const costKey = "controller.kubernetes.io/pod-deletion-cost"

var t0 = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// at is a moment d after t0.
func at(d time.Duration) metav1.Time { return metav1.NewTime(t0.Add(d)) }

// pod is a running pod on node n, ready and created at when.
func pod(uid string, when metav1.Time, restarts int32) *v1.Pod {
	return &v1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: uid, UID: types.UID(uid), CreationTimestamp: when},
		Spec:       v1.PodSpec{NodeName: "n"},
		Status: v1.PodStatus{
			Phase:             v1.PodRunning,
			Conditions:        []v1.PodCondition{{Type: v1.PodReady, Status: v1.ConditionTrue, LastTransitionTime: when}},
			ContainerStatuses: []v1.ContainerStatus{{RestartCount: restarts}},
		},
	}
}

func names(pods []*v1.Pod) string {
	s := ""
	for _, p := range pods {
		s += p.Name
	}
	return s
}

// setGate sets the gate for one test and puts upstream's default back.
func setGate(t *testing.T, on bool) {
	t.Helper()
	if err := SetDeletionCostGate(on); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = SetDeletionCostGate(true) })
}

// Ready times that differ are settled by UID within a bucket, equal ones by
// restarts: three pods can chase each other's tails.
func TestCycle(t *testing.T) {
	now := at(time.Hour)
	x, y, z := pod("1", at(0), 0), pod("3", at(0), 5), pod("2", at(-time.Second), 0)
	for _, c := range [][2]*v1.Pod{{x, z}, {z, y}, {y, x}} {
		if !Less(c[0], c[1], 1, 1, now) || Less(c[1], c[0], 1, 1, now) {
			t.Errorf("want %s before %s only", c[0].Name, c[1].Name)
		}
	}
	// Without buckets the order is sound: restarts, then the later ready time.
	pods, ranks := []*v1.Pod{z, x, y}, []int{1, 1, 1}
	if Sort(pods, ranks, metav1.Time{}); names(pods) != "312" {
		t.Errorf("zero now: got %s, want 312", names(pods))
	}
}

func TestSortMovesRanks(t *testing.T) {
	pods, ranks := []*v1.Pod{pod("a", at(0), 0), pod("b", at(0), 0), pod("c", at(0), 0)}, []int{1, 3, 2}
	Sort(pods, ranks, at(time.Hour))
	if names(pods) != "bca" || !slices.Equal(ranks, []int{3, 2, 1}) {
		t.Errorf("got %s %v", names(pods), ranks)
	}
}

func TestDeletionCostGate(t *testing.T) {
	cheap, dear := pod("a", at(0), 0), pod("b", at(0), 9)
	cheap.Annotations = map[string]string{costKey: "-1"}
	for _, on := range []bool{true, false} {
		setGate(t, on)
		if got := Less(cheap, dear, 1, 1, at(time.Hour)); got != on {
			t.Errorf("gate %t: cheap first is %t", on, got)
		}
	}
}

func TestDeletionCost(t *testing.T) {
	for text, want := range map[string]int32{"0": 0, "-7": -7, "-0": 0, "-007": -7, "2147483647": 2147483647} {
		if got, err := DeletionCost(map[string]string{costKey: text}); got != want || err != nil {
			t.Errorf("%q: %d, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "+1", "007", "2147483648", "1.5", " 1", "-"} {
		if got, err := DeletionCost(map[string]string{costKey: text}); got != 0 || err == nil {
			t.Errorf("%q: %d, no error", text, got)
		}
	}
}

func TestRanksAndPodsToDelete(t *testing.T) {
	a, b, c := pod("a", at(0), 0), pod("b", at(0), 0), pod("c", at(0), 0)
	c.Spec.NodeName = "m"
	gone := pod("d", at(0), 0)
	gone.Spec.NodeName, gone.Status.Phase = "m", v1.PodFailed // inactive: not counted
	related := []*v1.Pod{a, b, c, gone}
	if got := Ranks([]*v1.Pod{c, a, b}, related); !slices.Equal(got, []int{1, 2, 2}) {
		t.Errorf("ranks %v", got)
	}
	b.Status.ContainerStatuses[0].RestartCount = 1
	if got := PodsToDelete([]*v1.Pod{c, a, b}, related, 2); names(got) != "ba" {
		t.Errorf("got %s, want ba", names(got))
	}
	// All of them: upstream does not sort.
	if got := PodsToDelete([]*v1.Pod{c, a, b}, related, 3); names(got) != "cab" {
		t.Errorf("got %s, want cab", names(got))
	}
}

func TestSlowStartBatch(t *testing.T) {
	var calls atomic.Int32
	boom := errors.New("boom")
	// Batches of 1, 2 and 4; the fourth call fails, so 3 of the 10 never run.
	n, err := SlowStartBatch(10, 1, func() error {
		if calls.Add(1) == 4 {
			return boom
		}
		return nil
	})
	if n != 6 || calls.Load() != 7 || !errors.Is(err, boom) {
		t.Errorf("successes %d, calls %d, err %v", n, calls.Load(), err)
	}
}

func TestExpectations(t *testing.T) {
	e, log, key := NewExpectations(), klog.Background(), "ns/rs"
	check := func(step string, want bool) {
		t.Helper()
		if got := e.SatisfiedExpectations(log, key); got != want {
			t.Errorf("%s: satisfied %t", step, got)
		}
	}
	check("unknown key", true)
	_ = e.ExpectCreations(log, key, 1)
	check("one creation due", false)
	e.CreationObserved(log, key)
	check("creation seen", true)
	_ = e.ExpectDeletions(log, key, []string{"ns/a", "ns/a"})
	e.DeletionObserved(log, key, "ns/other")
	check("another pod deleted", false)
	e.DeletionObserved(log, key, "ns/a")
	check("deletion seen", true)
}

// pool makes n mixed pods, the same ones for the same seed.
func pool(n int, seed int64) []*v1.Pod {
	r := rand.New(rand.NewSource(seed))
	pods := make([]*v1.Pod, n)
	for i := range pods {
		p := pod(fmt.Sprint(i), at(-time.Duration(r.Intn(1000))*time.Minute), int32(r.Intn(3)))
		p.CreationTimestamp = at(-time.Duration(r.Intn(1000)) * time.Minute)
		p.Annotations = map[string]string{costKey: fmt.Sprint(r.Intn(2))}
		switch r.Intn(8) {
		case 0:
			p.Spec.NodeName, p.Status.Phase, p.Status.Conditions = "", v1.PodPending, nil
		case 1:
			p.Status.Conditions[0].Status = v1.ConditionFalse
		}
		pods[i] = p
	}
	return pods
}

// go test -run - -bench Less -benchtime 10000000x ./upstream
func BenchmarkLess(b *testing.B) {
	pods, now := pool(1000, 1), at(time.Hour)
	r := rand.New(rand.NewSource(2))
	pairs := make([][2]*v1.Pod, 1<<16)
	for i := range pairs {
		pairs[i] = [2]*v1.Pod{pods[r.Intn(len(pods))], pods[r.Intn(len(pods))]}
	}
	yes := 0
	b.ResetTimer()
	for i := range b.N {
		if p := pairs[i%len(pairs)]; Less(p[0], p[1], i%2, i>>1%2, now) {
			yes++
		}
	}
	b.ReportMetric(float64(yes)/float64(b.N), "yes/op")
}
