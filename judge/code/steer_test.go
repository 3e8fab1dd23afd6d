package judge

import (
	"errors"
	"flag"
	"slices"
	"strconv"
	"testing"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	podrank "github.com/podrank/podrank/go"
	"github.com/podrank/podrank/go/judge/upstream"
)

var steerRuns = flag.Int("steer-runs", 20_000, "how many shuffled lists of steered pods upstream sorts")

// steerable makes n pods that are all assigned, running and ready, so that the deletion cost is asked of them: in few tiers, with
// costs close to each other or to an end of their range, some fixed in half of the worlds.
func steerable(w *world, n int) (pods []*v1.Pod, tier map[*v1.Pod]int, fixed map[*v1.Pod]bool) {
	tier, fixed = map[*v1.Pod]int{}, map[*v1.Pod]bool{}
	start := pick(w.r, 0, 0, -1<<31, 1<<31-8)
	tiers, fixes := 1+w.r.IntN(5), w.r.IntN(2) == 0
	for range n {
		p := w.pod()
		p.Spec.NodeName = pick(w.r, "n1", "n2", "n3")
		p.Status.Phase = v1.PodRunning
		p.Status.Conditions = []v1.PodCondition{
			{Type: v1.PodReady, Status: v1.ConditionTrue, LastTransitionTime: pick(w.r, w.times...)},
		}
		p.Annotations = nil
		if w.r.IntN(3) > 0 {
			cost := strconv.Itoa(start + w.r.IntN(8))
			p.Annotations = map[string]string{v1.PodDeletionCost: cost}
		}
		tier[p], fixed[p] = w.r.IntN(tiers), fixes && w.r.IntN(4) == 0
		pods = append(pods, p)
	}
	return pods, tier, fixed
}

// With the costs that Steer gives, upstream's own sort puts the lower tiers first, in any list order and at any time.
func TestUpstreamFollowsTheSteeredCosts(t *testing.T) {
	t.Parallel()
	const shuffles = 50
	runs, changes, refused := 0, 0, 0
	for round := 0; runs < *steerRuns; round++ {
		r := seeded(9, round)
		w := newWorld(r, round%10 > 0, rolloutMoment)
		pods, tier, fixed := steerable(w, 2+r.IntN(pick(r, 8, 60)))
		before := map[*v1.Pod]string{}
		for _, p := range pods {
			before[p] = p.Annotations[v1.PodDeletionCost]
		}
		written, err := podrank.Steer(pods, podrank.WithTier(func(p *v1.Pod) int { return tier[p] }),
			podrank.WithFixed(func(p *v1.Pod) bool { return fixed[p] }),
			podrank.WithPrice(func(p *v1.Pod) int { return 1 + tier[p] }))
		if noRoom := (*podrank.NoRoomError)(nil); errors.As(err, &noRoom) {
			refused++
			continue
		} else if err != nil {
			t.Fatal(err)
		}
		for _, change := range written {
			if fixed[change.Pod] {
				t.Fatalf("round %d: a fixed cost is written: %+v", round, change)
			}
			cost := strconv.Itoa(int(change.Cost))
			if change.Pod.Annotations[v1.PodDeletionCost] == cost {
				t.Fatalf("round %d: no change: %+v", round, change)
			}
			change.Pod.Annotations = map[string]string{v1.PodDeletionCost: cost}
		}
		changes += len(written)
		ranks := make([]int, len(pods))
		for range shuffles {
			r.Shuffle(len(pods), func(i, j int) { pods[i], pods[j] = pods[j], pods[i] })
			copy(ranks, upstream.Ranks(pods, pods))
			now := w.now
			if r.IntN(2) == 0 {
				now = pick(r, append(slices.Clone(w.times), metav1.Time{})...)
			}
			upstream.Sort(pods, ranks, now)
			runs++
			// In the order of the tiers: for any number of victims, no pod of a higher tier is deleted before one of a
			// lower tier.
			if !slices.IsSortedFunc(pods, func(a, b *v1.Pod) int { return tier[a] - tier[b] }) {
				t.Fatalf("round %d, now %v: upstream does not follow the tiers", round, now)
			}
		}
	}
	t.Logf("%d shuffled runs, %d costs written; %d worlds whose fixed costs leave no room", runs, changes, refused)
	if changes < runs/50 || refused == 0 && runs > 10_000 {
		t.Error("too few to tell")
	}
}
