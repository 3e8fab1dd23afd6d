package judge

import (
	"cmp"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	podrank "github.com/podrank/podrank/go"
	"github.com/podrank/podrank/go/judge/internal/vectors"
	"github.com/podrank/podrank/go/judge/upstream"
)

// crowd makes n pods and relatives that give them ranks: pods of their own, some of no account, and more.
func crowd(w *world, n int) (pods, related []*v1.Pod) {
	for range n {
		pods = append(pods, w.pod())
	}
	related = append(related, pods[:w.r.IntN(min(n, 8)+1)]...)
	for range w.r.IntN(8) {
		p := w.pod()
		switch w.r.IntN(6) {
		case 0:
			p.Status.Phase = pick(w.r, v1.PodSucceeded, v1.PodFailed)
		case 1:
			p.DeletionTimestamp = &metav1.Time{Time: time.Unix(1e9, 0)}
		}
		related = append(related, p)
	}
	return pods, related
}

// relation is what the Go module makes of upstream's relation of two pods: -1 if a certainly goes first.
func relation(t *testing.T, a, b *v1.Pod, related []*v1.Pod, options ...podrank.Option) int {
	s, err := podrank.Settle([]*v1.Pod{a, b}, related, 1, options...)
	switch {
	case err != nil || len(s.Certain)+s.Quota != 1 || len(s.Certain)+len(s.Contested)+len(s.Safe) != 2:
		t.Errorf("%+v, %v", s, err)
	case s.Quota > 0:
		return 0
	case s.Certain[0] == a:
		return -1
	}
	return 1
}

// goPairs is how many pairs are asked of each world.
const goPairs = 100_000

// Ten million pairs of v1.Pods, from the conversion to the ranks: what the Go module certainly deletes first of two is what
// upstream's Less says, and a tie is contested.
func TestGoRelation(t *testing.T) {
	var pairs, ties atomic.Int64
	for _, part := range []struct {
		from, to int
		costOff  bool
	}{{0, 90, false}, {90, 100, true}} {
		costGate(t, !part.costOff)
		var next atomic.Int64
		next.Store(int64(part.from))
		var group sync.WaitGroup
		for range runtime.GOMAXPROCS(0) {
			group.Go(func() {
				for round := int(next.Add(1)) - 1; round < part.to && !t.Failed(); round = int(next.Add(1)) - 1 {
					r := seeded(7, round)
					w := newWorld(r, round%5 > 0, anyMoment)
					pods, related := crowd(w, 300)
					ranks := upstream.Ranks(pods, related)
					options := []podrank.Option{podrank.WithNow(w.now.Time), podrank.WithPodDeletionCost(!part.costOff)}
					for range goPairs {
						i := r.IntN(len(pods))
						j := (i + 1 + r.IntN(len(pods)-1)) % len(pods)
						want := 0
						switch {
						case upstream.Less(pods[i], pods[j], ranks[i], ranks[j], w.now):
							want = -1
						case upstream.Less(pods[j], pods[i], ranks[j], ranks[i], w.now):
							want = 1
						default:
							ties.Add(1)
						}
						if got := relation(t, pods[i], pods[j], related, options...); got != want {
							t.Errorf("round %d: podrank says %d, upstream %d\nnow %v, ranks %d and %d\n%+v\n%+v",
								round, got, want, w.now, ranks[i], ranks[j], pods[i], pods[j])
							return
						}
						pairs.Add(1)
					}
				}
			})
		}
		group.Wait()
	}
	t.Logf("%d pairs, %d of them ties", pairs.Load(), ties.Load())
	if pairs.Load() < 10_000_000 || ties.Load() < 100_000 || ties.Load() > 5_000_000 {
		t.Error("too few to tell")
	}
}

// between says that victims are all the certain and else contested pods, as many as are to go.
func between(t *testing.T, what string, victims []*v1.Pod, s podrank.Settled) {
	t.Helper()
	may := map[*v1.Pod]bool{}
	for _, p := range s.Contested {
		may[p] = true
	}
	certain := 0
	for _, p := range victims {
		if slices.Contains(s.Certain, p) {
			certain++
		} else if !may[p] {
			t.Errorf("%s deletes a pod that is safe: %+v", what, p)
		}
	}
	if certain != len(s.Certain) || len(victims) != certain+s.Quota {
		t.Errorf("%s deletes %d pods, %d of %d certain ones", what, len(victims), certain, len(s.Certain))
	}
}

// Whatever the order of the list, upstream's ranks and sort.Sort take the certain victims and else contested ones, and the
// Go module takes the same pods by either order.
func TestGoVictims(t *testing.T) {
	contested := 0
	for round := range 300 {
		r := seeded(8, round)
		w := newWorld(r, round%10 > 0, rolloutMoment)
		pods, related := crowd(w, 2+r.IntN(150))
		// Where UIDs differ, one set of pods has one set of victims.
		slices.SortFunc(pods, func(a, b *v1.Pod) int { return cmp.Compare(a.UID, b.UID) })
		distinct := slices.CompactFunc(slices.Clone(pods), func(a, b *v1.Pod) bool { return a.UID == b.UID })
		now, k := podrank.WithNow(w.now.Time), r.IntN(len(pods)+1)
		s, err := podrank.Settle(pods, related, k, now)
		if err != nil {
			t.Fatal(err)
		}
		if s.Quota > 0 {
			contested++
		}
		first := map[string]bool{}
		for range 20 {
			r.Shuffle(len(pods), func(i, j int) { pods[i], pods[j] = pods[j], pods[i] })
			ours, err := podrank.PodsToDelete(pods, related, k, now, podrank.Kubernetes())
			if err != nil {
				t.Fatal(err)
			}
			between(t, "podrank", ours, s)
			list := slices.Clone(pods)
			upstream.Sort(list, upstream.Ranks(list, related), w.now)
			between(t, "upstream", list[:k], s)

			r.Shuffle(len(distinct), func(i, j int) { distinct[i], distinct[j] = distinct[j], distinct[i] })
			total, err := podrank.PodsToDelete(distinct, related, min(k, len(distinct)), now)
			if err != nil {
				t.Fatal(err)
			}
			text := ""
			for _, p := range total {
				text += string(p.UID) + " "
			}
			first[text] = true
		}
		if len(first) != 1 {
			t.Errorf("round %d: %d lists of victims of one set of pods", round, len(first))
		}
	}
	t.Logf("%d of 300 contested", contested)
	if contested < 100 {
		t.Error("too few to tell")
	}
}

// The tables of upstream's own tests, through the Go module: the same victims.
func TestGoTables(t *testing.T) {
	all, ran := groups(t), 0
	for _, name := range []string{"active pods", "pods to delete", "deletion cost, integration"} {
		g := all[name]
		for _, s := range g.Selections {
			pods, byPod := []*v1.Pod{}, map[*v1.Pod]string{}
			for _, n := range s.Pods {
				p := g.Pods[n].V1()
				pods, byPod[p] = append(pods, p), n
			}
			var related []*v1.Pod
			for _, n := range s.Related {
				related = append(related, g.Pods[n].V1())
			}
			policy := or(s.Policy, g.Policy)
			costOn, ok := policy.FeatureGates["PodDeletionCost"]
			for _, order := range [][]podrank.Option{nil, {podrank.Kubernetes()}} {
				options := append(order, podrank.WithNow(policy.Now.Time().Time), podrank.WithPodDeletionCost(costOn || !ok))
				victims, err := podrank.PodsToDelete(pods, related, s.Delete, options...)
				if err != nil {
					t.Fatal(err)
				}
				var got []string
				for _, p := range victims {
					got = append(got, byPod[p])
				}
				want := slices.Clone(s.Victims)
				if s.AnyOrder {
					slices.Sort(got)
					slices.Sort(want)
				}
				if !slices.Equal(got, want) {
					t.Errorf("%s: deleting %d of %v: %v, want %v", name, s.Delete, s.Pods, got, want)
				}
				ran++
			}
		}
	}
	if ran < 30 {
		t.Errorf("only %d selections", ran)
	}
}

// The pods of tests/vectors/upstream.json, through the Go module.
func TestGoUpstreamJSON(t *testing.T) {
	var file vectors.File
	if err := vectors.Read("upstream.json", &file); err != nil {
		t.Fatal(err)
	}
	for _, pair := range file.Pairs {
		a, b := file.Pods[pair.First], file.Pods[pair.Second]
		if a.Rank != b.Rank {
			continue // a rank is no pod's own: TestGoRelation counts it
		}
		policy := file.PolicyOf(pair)
		costOn, ok := policy.FeatureGates["PodDeletionCost"]
		want := map[string]int{"before": -1, "tie": 0}[pair.Relation]
		got := relation(t, a.V1(), b.V1(), nil, podrank.WithNow(policy.Now.Time().Time), podrank.WithPodDeletionCost(costOn || !ok))
		if got != want {
			t.Errorf("%s, %s: %d, want %d", pair.First, pair.Second, got, want)
		}
	}
}
