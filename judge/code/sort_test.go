package judge

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"sort"
	"testing"
	"testing/synctest"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/kubernetes/pkg/controller"

	podrank "github.com/podrank/podrank/go"
	library "github.com/podrank/podrank/go/judge/internal/podrank"
	"github.com/podrank/podrank/go/judge/upstream"
)

// A cut is a number of pods of a list that go, and what podrank settles of them.
type cut struct {
	k int
	podrank.Prediction
	lots map[*v1.Pod]string
}

// newCut settles how many of these pods go, which must put each of them in one of three parts.
func newCut(pods, related []*v1.Pod, k int, options ...podrank.Option) (*cut, error) {
	settled, err := podrank.Predict(pods, related, k, options...)
	if err != nil {
		return nil, err
	}
	c := &cut{k, settled, map[*v1.Pod]string{}}
	for lot, part := range map[string][]*v1.Pod{"certain": c.Deleted, "contested": c.Possible, "safe": c.Kept} {
		for _, pod := range part {
			c.lots[pod] = lot
		}
	}
	for _, pod := range pods {
		if c.lots[pod] == "" {
			err = errors.New("a pod is in no part")
		}
	}
	certain, contested := len(c.Deleted), len(c.Possible)
	if len(c.lots) != len(pods) || certain+contested+len(c.Kept) != len(pods) || certain+c.Quota != k ||
		c.Quota > 0 != (contested > 0) || c.Quota > 0 && c.Quota >= contested {
		err = fmt.Errorf("deleting %d of %d: %d certain, %d of %d contested, %d safe", k, len(pods), certain, c.Quota, contested, len(c.Kept))
	}
	return c, err
}

// judge checks that the victims are all certain pods and otherwise possible ones, and that their number is right.
func (c *cut) judge(who string, victims []*v1.Pod) error {
	goes, counts := map[*v1.Pod]bool{}, map[string]int{}
	for _, pod := range victims {
		goes[pod] = true
		counts[c.lots[pod]]++
	}
	if len(goes) != c.k || len(victims) != c.k || counts["certain"] != len(c.Deleted) || counts["contested"] != c.Quota {
		return fmt.Errorf("deleting %d, %s takes %v, and %d are certain", c.k, who, counts, len(c.Deleted))
	}
	return nil
}

// A cutList is a list of pods, cut at four places.
type cutList struct {
	*pool
	w       *world
	options []podrank.Option
	cuts    []*cut
	// distinct are pods whose UIDs all differ.
	distinct []*v1.Pod
}

// newCutList makes a list and settles all its cuts.
func newCutList(round int) (*cutList, error) {
	r := seeded(4, round)
	w := newWorld(r, round%10 > 0, rolloutMoment)
	n := pick(r, r.IntN(13), r.IntN(60), r.IntN(301))
	if round == 5 {
		n = 5000
	}
	l := &cutList{pool: newPool(w, n), w: w}
	l.options = w.options(l.ranks...)
	for _, k := range []int{r.IntN(n + 1), r.IntN(n + 1), r.IntN(n + 1), n / 2} {
		c, err := newCut(l.pods(), l.related, k, l.options...)
		if err != nil {
			return nil, err
		}
		l.cuts = append(l.cuts, c)
	}
	l.distinct = slices.SortedFunc(slices.Values(l.pods()), func(a, b *v1.Pod) int { return cmp.Compare(a.UID, b.UID) })
	l.distinct = slices.CompactFunc(l.distinct, func(a, b *v1.Pod) bool { return a.UID == b.UID })
	return l, nil
}

func (p *pool) pods() (pods []*v1.Pod) {
	for i := range p.samples {
		pods = append(pods, p.samples[i].pod)
	}
	return pods
}

// sortedBy is the list as upstream's comparator and a sort of Go's make it.
func (l *cutList) sortedBy(sort func(sort.Interface)) []*v1.Pod {
	u := controller.ActivePodsWithRanks{Pods: l.pods(), Now: l.w.now}
	for i := range l.samples {
		u.Rank = append(u.Rank, l.samples[i].rank)
	}
	sort(u)
	return u.Pods
}

// sortedByLibrary is the list as podrank repeats what sort.Sort makes of it.
func (l *cutList) sortedByLibrary() (pods []*v1.Pod) {
	records, indices := make([]library.Pod, len(l.samples)), make([]uint32, len(l.samples))
	for i := range l.samples {
		records[i], indices[i] = l.samples[i].record, uint32(i)
	}
	library.UpstreamSort(records, indices, library.Time(&l.w.now))
	for _, i := range indices {
		pods = append(pods, l.samples[i].pod)
	}
	return pods
}

// chosen is what upstream's controller chooses. It counts the ranks itself, and looks at the clock. Its metric, which comes after the
// choice, divides by an age that can be 0.
func (l *cutList) chosen(k int) (victims []*v1.Pod) {
	time.Sleep(time.Until(l.w.now.Time))
	victims = l.pods()
	defer func() {
		_ = recover()
		victims = victims[:k]
	}()
	upstream.PodsToDelete(victims, l.related, k)
	return victims
}

// everyChoiceIsAsSettled compares whatever sorts the list or chooses from it with what was settled.
func (l *cutList) everyChoiceIsAsSettled() error {
	sorted, again := l.sortedBy(sort.Sort), l.sortedByLibrary()
	if !slices.Equal(sorted, again) {
		return errors.New("podrank sorts the list otherwise than Go")
	}
	stable := l.sortedBy(sort.Stable)
	for _, c := range l.cuts {
		err := errors.Join(c.judge("sort.Sort", sorted[:c.k]), c.judge("sort.Stable", stable[:c.k]))
		ours, oursErr := podrank.PodsToDelete(l.pods(), l.related, c.k, append(l.options, podrank.Kubernetes())...)
		err = errors.Join(err, oursErr, c.judge("podrank", ours))
		if !l.w.now.IsZero() && l.ranks == nil {
			err = errors.Join(err, c.judge("upstream's controller", l.chosen(c.k)))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// totalVictims are the UIDs of the pods that go first in podrank's own order, of those whose UIDs all differ.
func (l *cutList) totalVictims() (uids string, err error) {
	l.w.r.Shuffle(len(l.distinct), func(i, j int) { l.distinct[i], l.distinct[j] = l.distinct[j], l.distinct[i] })
	first, err := podrank.PodsToDelete(l.distinct, l.related, min(l.cuts[0].k, len(l.distinct)), l.options...)
	for _, p := range first {
		uids += string(p.UID) + " "
	}
	return uids, err
}

// Whatever the sort and the order of the list: the certain are among the first k, the safe never. So does upstream's controller choose,
// and the Go module in Kubernetes' order. In its own, it takes the same pods whatever the order of the list. A release of Go that sorts
// otherwise fails this test, and the one of the vectors.
func TestCertainGoAndSafeStay(t *testing.T) {
	t.Parallel()
	const lists, shuffles = 500, 12
	contested, certain, safe := 0, 0, 0
	for round := range lists {
		// In a bubble, time is the test's: upstream reads time.Now.
		synctest.Test(t, func(t *testing.T) {
			l, err := newCutList(round)
			if err != nil {
				t.Fatalf("round %d: %v", round, err)
			}
			for _, c := range l.cuts {
				contested, certain, safe = contested+min(c.Quota, 1), certain+len(c.Deleted), safe+len(c.Kept)
			}
			first := ""
			for shuffle := range shuffles {
				l.w.r.Shuffle(len(l.samples), func(i, j int) { l.samples[i], l.samples[j] = l.samples[j], l.samples[i] })
				uids, totalErr := l.totalVictims()
				if shuffle == 0 {
					first = uids
				} else if uids != first {
					totalErr = errors.New("podrank's own order depends on that of the list")
				}
				if err := errors.Join(totalErr, l.everyChoiceIsAsSettled()); err != nil {
					t.Fatalf("round %d: %v", round, err)
				}
			}
		})
	}
	t.Logf("%d of %d cuts contested, %d pods certain and %d safe", contested, lists*4, certain, safe)
	if contested < lists/4 || certain < 1000 || safe < 1000 {
		t.Error("too few to tell")
	}
}

// What upstream's sort and podrank make of 200 shuffles of one rollout, as go/README.md says.
func TestShufflesOfARollout(t *testing.T) {
	t.Parallel()
	const shuffles, victims = 200, 6
	r, now := seeded(1, 0), time.Date(2026, 3, 10, 13, 0, 0, 0, time.UTC)
	pods := make([]*v1.Pod, 30)
	for i := range pods {
		uid := fmt.Sprintf("%08x-%04x-4%03x-a%03x-%012x", r.Uint32(), r.IntN(1<<16), r.IntN(1<<12), r.IntN(1<<12), r.Int64N(1<<48))
		// Ready within 4 seconds; a quarter of them restarted.
		ready := now.Add(-time.Hour).Add(time.Duration(r.IntN(4)) * time.Second)
		pods[i] = &v1.Pod{
			ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint(i), UID: types.UID(uid), CreationTimestamp: metav1.NewTime(ready.Add(-5 * time.Second))},
			Spec:       v1.PodSpec{NodeName: fmt.Sprint("node-", i%10)},
			Status: v1.PodStatus{Phase: v1.PodRunning, ContainerStatuses: []v1.ContainerStatus{{RestartCount: int32(i % 4 / 3)}},
				Conditions: []v1.PodCondition{{Type: v1.PodReady, Status: v1.ConditionTrue, LastTransitionTime: metav1.NewTime(ready)}}},
		}
	}
	theirs, ours := map[string]bool{}, map[string]bool{}
	for range shuffles {
		r.Shuffle(len(pods), func(i, j int) { pods[i], pods[j] = pods[j], pods[i] })
		chosen, err := podrank.PodsToDelete(pods, pods, victims, podrank.WithNow(now))
		if err != nil {
			t.Fatal(err)
		}
		sorted := slices.Clone(pods)
		upstream.Sort(sorted, upstream.Ranks(pods, pods), metav1.NewTime(now))
		theirs[fmt.Sprint(sortedNames(sorted[:victims]))], ours[fmt.Sprint(sortedNames(chosen))] = true, true
	}
	t.Logf("of %d shuffles, upstream's sort makes %d victim sets, and podrank %d", shuffles, len(theirs), len(ours))
	if len(theirs) < 10 || len(ours) != 1 {
		t.Error("there is nothing to show")
	}
}
