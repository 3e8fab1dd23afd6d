package decide_test

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podrank/podrank/webhook/api/v1alpha1"
	"github.com/podrank/podrank/webhook/internal/decide"
)

// placed is a pod with the fields by which the test distinguishes pods.
type placed struct {
	*corev1.Pod
	tier, cost int
	zone       string
}

// next returns the pod that is deleted next, by a naive search: of the lowest tier, from the zone and then the node
// with the most remaining pods, the one with the lowest cost. others are pods that are not deleted.
func next(left []placed, others []placed, domains []func(placed) string) placed {
	lowest := slices.MinFunc(left, func(a, b placed) int { return cmp.Compare(a.tier, b.tier) }).tier
	var among []placed
	for _, pod := range left {
		if pod.tier == lowest {
			among = append(among, pod)
		}
	}
	within := func(a, b placed) int { return cmp.Or(cmp.Compare(a.cost, b.cost), cmp.Compare(a.UID, b.UID)) }
	// The innermost domain first: each keeps the one of its pods that would be deleted first.
	for _, domain := range domains {
		counts, firsts := map[string]int{}, map[string]placed{}
		for _, pod := range slices.Concat(left, others) {
			counts[domain(pod)]++
		}
		before := within
		for _, pod := range among {
			if first, ok := firsts[domain(pod)]; !ok || before(pod, first) < 0 {
				firsts[domain(pod)] = pod
			}
		}
		within = func(a, b placed) int {
			// Of one domain, only one is left.
			return cmp.Or(cmp.Compare(counts[domain(b)], counts[domain(a)]), cmp.Compare(a.cost, b.cost), cmp.Compare(a.UID, b.UID))
		}
		among = slices.Collect(maps.Values(firsts))
	}
	return slices.MinFunc(among, within)
}

// othersCase is a question about foreign costs, and what a test knows of its pods.
type othersCase struct {
	decide.Question
	own, others []placed
	domains     []func(placed) string
	theirs      map[types.UID]bool
}

func randomOthers(random *rand.Rand, mode v1alpha1.ForeignCosts) *othersCase {
	c := &othersCase{theirs: map[types.UID]bool{}}
	tiers, zones := map[types.UID]int{}, map[types.UID]string{}
	for i := range 2 + random.IntN(8) {
		node := random.IntN(4)
		pod := running(random.Uint32(), fmt.Sprint(node))
		pod.Name = fmt.Sprint(i)
		pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue, LastTransitionTime: metav1.NewTime(now.Add(-100))}}
		p := placed{pod, random.IntN(2), random.IntN(3) - 1, fmt.Sprint(node % 2)}
		zones[pod.UID] = p.zone
		c.Related = append(c.Related, pod)
		if random.IntN(5) == 0 {
			c.others = append(c.others, p)
			continue
		}
		pod.Annotations = map[string]string{corev1.PodDeletionCost: fmt.Sprint(p.cost)}
		tiers[pod.UID], c.theirs[pod.UID] = p.tier, random.IntN(2) == 0
		c.Active, c.own = append(c.Active, pod), append(c.own, p)
	}
	isTheirs := func(pod *corev1.Pod) bool { return c.theirs[pod.UID] }
	c.Delete, c.Now, c.ForeignCosts = random.IntN(len(c.own)+1), now, mode
	c.Tier = func(pod *corev1.Pod) int { return tiers[pod.UID] }
	c.IsFixed, c.MayOverwrite, c.IsOurs = isTheirs, isTheirs, func(pod *corev1.Pod) bool { return !isTheirs(pod) }
	c.ForeignCost = func(pod *corev1.Pod) string {
		if isTheirs(pod) {
			return pod.Annotations[corev1.PodDeletionCost]
		}
		return ""
	}
	if random.IntN(4) > 0 {
		c.domains = []func(placed) string{func(p placed) string { return p.Spec.NodeName }, func(p placed) string { return p.zone }}
		c.Domains = []func(*corev1.Pod) string{func(pod *corev1.Pod) string { return pod.Spec.NodeName }, func(pod *corev1.Pod) string { return zones[pod.UID] }}
	}
	return c
}

// order is the one in which so many pods should be deleted, one at a time.
func (c *othersCase) order() (order []placed) {
	left, ranks := slices.Clone(c.own), map[string]int{}
	for i := range left {
		if c.ForeignCosts == v1alpha1.Override || !c.theirs[left[i].UID] {
			left[i].cost = 0
		}
	}
	for _, pod := range c.Related {
		ranks[pod.Spec.NodeName]++
	}
	for range c.Delete {
		first := slices.MinFunc(left, func(a, b placed) int {
			return cmp.Or(cmp.Compare(a.tier, b.tier), cmp.Compare(a.cost, b.cost), cmp.Compare(ranks[b.Spec.NodeName], ranks[a.Spec.NodeName]), cmp.Compare(a.UID, b.UID))
		})
		if len(c.domains) > 0 {
			first = next(left, c.others, c.domains)
		}
		order = append(order, first)
		left = slices.DeleteFunc(left, func(p placed) bool { return p.UID == first.UID })
	}
	return order
}

// With Follow, foreign costs decide after the spread. With Override, they do not decide. In both, only costs of pods
// that are deleted are overwritten.
func TestFollowAndOverride(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 8))
	overwritten, spread, noRoom := map[v1alpha1.ForeignCosts]int{}, map[v1alpha1.ForeignCosts]int{}, 0
	for round := range 4000 {
		c := randomOthers(random, []v1alpha1.ForeignCosts{v1alpha1.Follow, v1alpha1.Override}[round%2])
		decision, err := decide.Decide(c.Question)
		if full := (*decide.NoRoomError)(nil); errors.As(err, &full) {
			noRoom++
		} else if err != nil {
			t.Fatal(err)
		}
		for i, want := range c.order() {
			if got := decision.Selected[i]; got.UID != want.UID {
				t.Fatalf("round %d, %s: pod %s goes as number %d, and not %s", round, c.ForeignCosts, got.Name, i, want.Name)
			}
		}
		for _, write := range decision.Writes {
			if c.theirs[write.Pod.UID] {
				overwritten[c.ForeignCosts]++
				if !slices.Contains(decision.Selected, write.Pod) {
					t.Fatalf("round %d: the cost of %s is overwritten, and it stays", round, write.Pod.Name)
				}
			}
		}
		if len(c.domains) > 0 {
			spread[c.ForeignCosts]++
		}
	}
	for _, mode := range []v1alpha1.ForeignCosts{v1alpha1.Follow, v1alpha1.Override} {
		if overwritten[mode] < 100 || spread[mode] < 1000 {
			t.Errorf("%s: %d overwritten, %d spread", mode, overwritten[mode], spread[mode])
		}
	}
	if noRoom > 0 {
		t.Errorf("%d times, there was no room", noRoom)
	}
}
