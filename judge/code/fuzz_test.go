package judge

import (
	"encoding/json"
	"slices"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	podrank "github.com/podrank/podrank/go"
	"github.com/podrank/podrank/go/judge/internal/vectors"
	"github.com/podrank/podrank/go/judge/upstream"
)

// beyond says whether a time is one that nanoseconds do not hold: podrank does not tell those apart.
func beyond(t metav1.Time) bool { return !t.IsZero() && (t.Year() < 1678 || t.Year() > 2261) }

// A list of pods in JSON, as the API has it: upstream's victims are podrank's certain and contested ones, and the total order's
// are the first of a plain sort by pairs.
func FuzzVictims(f *testing.F) {
	addLists(f)
	f.Fuzz(func(t *testing.T, data []byte, k uint8, nanoseconds int64) {
		var list []*v1.Pod
		if json.Unmarshal(data, &list) != nil {
			return
		}
		now := metav1.NewTime(time.Unix(0, nanoseconds))
		active, toldApart := activeOf(list)
		if !toldApart || beyond(now) {
			return
		}
		settled, err := podrank.Settle(active, list, int(k), podrank.WithNow(now.Time))
		if err != nil {
			if !haveInvalidUID(active) {
				t.Fatal(err)
			}
			return
		}
		k = uint8(min(int(k), len(active)))
		compareTotalOrder(t, active, list, int(k), now)
		compareKubernetesOrder(t, active, list, int(k), now, settled)
	})
}

// addLists adds lists of up to four neighbours in pods.json as seeds.
func addLists(f *testing.F) {
	var cases []struct{ Pod json.RawMessage }
	if err := vectors.Read("pods.json", &cases); err != nil {
		f.Fatal(err)
	}
	var all []json.RawMessage
	for _, c := range cases {
		all = append(all, c.Pod)
	}
	for i := range all {
		data, err := json.Marshal(all[max(0, i-3) : i+1])
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data, uint8(2), int64(vectors.Now))
	}
}

// activeOf returns the active pods of a list, and whether podrank tells apart all of them that upstream does: times within
// nanoseconds, and not both an empty UID and one of zeros.
func activeOf(list []*v1.Pod) (active []*v1.Pod, toldApart bool) {
	zeros, empty := false, false
	for _, p := range list {
		if p == nil || p.Status.Phase == v1.PodSucceeded || p.Status.Phase == v1.PodFailed || p.DeletionTimestamp != nil {
			continue
		}
		if beyond(p.CreationTimestamp) || slices.ContainsFunc(p.Status.Conditions, func(c v1.PodCondition) bool {
			return beyond(c.LastTransitionTime)
		}) {
			return nil, false
		}
		empty = empty || p.UID == ""
		zeros = zeros || p.UID == "00000000-0000-0000-0000-000000000000"
		active = append(active, p)
	}
	return active, !empty || !zeros
}

// haveInvalidUID says whether one of the pods has a UID that is none: nothing else is ever wrong with an active pod.
func haveInvalidUID(active []*v1.Pod) bool {
	return slices.ContainsFunc(active, func(p *v1.Pod) bool {
		_, err := podrank.Explain(p, p, nil)
		return err != nil && p.UID != ""
	})
}

// compareTotalOrder checks that the total order's victims are the first k of a plain sort by pairs.
func compareTotalOrder(t *testing.T, active, list []*v1.Pod, k int, now metav1.Time) {
	total, err := podrank.PodsToDelete(active, list, k, podrank.WithNow(now.Time))
	if err != nil {
		t.Fatal(err)
	}
	order := slices.Clone(active)
	slices.SortStableFunc(order, func(a, b *v1.Pod) int {
		explanation, err := podrank.Explain(a, b, list, podrank.WithNow(now.Time))
		if err != nil {
			t.Fatal(err)
		}
		return explanation.First
	})
	if !slices.Equal(total, order[:k]) {
		t.Errorf("the total order deletes %+v, want %+v", total, order[:k])
	}
}

// compareKubernetesOrder checks that the victims in Kubernetes' order, podrank's and upstream's, are as settled, in whatever order the
// pods are.
func compareKubernetesOrder(t *testing.T, active, list []*v1.Pod, k int, now metav1.Time, settled podrank.Settled) {
	ours, err := podrank.PodsToDelete(active, list, k, podrank.WithNow(now.Time), podrank.Kubernetes())
	if err != nil {
		t.Fatal(err)
	}
	between(t, "podrank", ours, settled)
	for range 3 {
		slices.Reverse(active)
		sorted := slices.Clone(active)
		// Upstream's rank counting takes no nil pods.
		related := slices.DeleteFunc(slices.Clone(list), func(p *v1.Pod) bool { return p == nil })
		upstream.Sort(sorted, upstream.Ranks(sorted, related), now)
		between(t, "upstream", sorted[:k], settled)
		active = append(active[len(active)/2:], active[:len(active)/2]...)
	}
}
