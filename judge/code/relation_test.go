package judge

import (
	"math"
	"math/bits"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	podrank "github.com/podrank/podrank/go"
	"github.com/podrank/podrank/go/internal/core"
	library "github.com/podrank/podrank/go/judge/internal/podrank"
	"github.com/podrank/podrank/go/judge/internal/vectors"
	"github.com/podrank/podrank/go/judge/upstream"
)

const perRound = 10_000

type sample struct {
	pod    *v1.Pod
	rank   int
	record library.Pod
}

// A pool is pods of a world, and what the Go module needs for their ranks.
type pool struct {
	samples []sample
	related []*v1.Pod
	ranks   []podrank.Option
}

// newPool makes n pods, whose ranks are counted among related pods, or, in half of the worlds, are any.
func newPool(w *world, n int) *pool {
	pods, related := crowd(w, n)
	p := &pool{samples: make([]sample, n), related: related}
	ranks, given := upstream.Ranks(pods, related), map[*v1.Pod]int{}
	if w.r.IntN(2) == 0 {
		for i := range ranks {
			ranks[i] = of(w, "rank", 1, 2, 3, 0, math.MaxInt32)
			given[pods[i]] = ranks[i]
		}
		p.ranks = []podrank.Option{podrank.WithRanks(func(pod *v1.Pod) int { return given[pod] })}
	}
	for i, pod := range pods {
		p.samples[i] = sample{pod, ranks[i], w.record(pod, ranks[i])}
	}
	return p
}

// says is upstream's relation of two pods: -1 if a is before b, 1 if b is before a.
func says(t *testing.T, w *world, a, b *sample) int {
	ab := upstream.Less(a.pod, b.pod, a.rank, b.rank, w.now)
	ba := upstream.Less(b.pod, a.pod, b.rank, a.rank, w.now)
	switch {
	case ab && ba:
		t.Errorf("upstream says before both ways of\n%+v\n%+v", a.pod, b.pod)
	case ab:
		return -1
	case ba:
		return 1
	}
	return 0
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

// rounds runs a check on random pairs, perRound of each world, on all cores.
func rounds(t *testing.T, test, from, to int, check func(w *world, p *pool, a, b *sample)) {
	var next atomic.Int64
	next.Store(int64(from))
	var group sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		group.Go(func() {
			for round := int(next.Add(1)) - 1; round < to && !t.Failed(); round = int(next.Add(1)) - 1 {
				r := seeded(test, round)
				w := newWorld(r, round%5 > 0, anyMoment)
				p := newPool(w, 150)
				for range perRound {
					i := r.IntN(len(p.samples))
					j := (i + 1 + r.IntN(len(p.samples)-1)) % len(p.samples)
					check(w, p, &p.samples[i], &p.samples[j])
				}
			}
		})
	}
	group.Wait()
}

// Ten million pairs: podrank_upstream is upstream's Less, asked both ways. So is what the Go module certainly deletes first of the two,
// from the conversion to the ranks, and a tie is contested.
func TestRelation(t *testing.T) {
	var pairs, ties atomic.Int64
	var byRule sync.Map
	for _, part := range []struct {
		from, to int
		costOff  bool
	}{{0, 800, false}, {800, 1000, true}} {
		costGate(t, !part.costOff)
		rounds(t, 1, part.from, part.to, func(w *world, p *pool, a, b *sample) {
			want, now := says(t, w, a, b), library.Time(w.now)
			got, rule := library.Upstream(&a.record, &b.record, now, part.costOff)
			ours := relation(t, a.pod, b.pod, p.related, w.options(append(p.ranks, podrank.WithPodDeletionCost(!part.costOff))...)...)
			if got != want || ours != want {
				t.Errorf("upstream says %d, podrank %d by %v, the Go module %d\nnow %v, cost gate off: %t\n%+v\n%+v\n%+v\n%+v",
					want, got, library.RuleName(rule), ours, w.now, part.costOff, a.pod, b.pod, a.record, b.record)
			}
			if back, _ := library.Upstream(&b.record, &a.record, now, part.costOff); back != -got {
				t.Errorf("podrank says %d, and the other way round %d\n%+v\n%+v", got, back, a.record, b.record)
			}
			pairs.Add(1)
			settled, _ := byRule.LoadOrStore(rule, new(atomic.Int64))
			settled.(*atomic.Int64).Add(1)
			if want == 0 {
				ties.Add(1)
			}
		})
	}
	t.Logf("%d pairs, %d of them ties", pairs.Load(), ties.Load())
	if pairs.Load() < 10_000_000 || ties.Load() < 100_000 || ties.Load() > 5_000_000 {
		t.Error("too few to tell")
	}
	steps := 0
	for rule, settled := range byRule.Range {
		n, name := settled.(*atomic.Int64).Load(), library.RuleName(rule.(uint8))
		steps++
		t.Logf("%9d by %q", n, name)
		if n < 50_000 {
			t.Errorf("too few pairs are settled by %q: %d", name, n)
		}
	}
	if steps != 11 { // ten rules and none; not the label
		t.Errorf("pairs were settled in %d ways", steps)
	}
}

// podrank's own order is upstream's relation but where two differing times share
// an age bucket, by exact buckets or by upstream's rounded ones; and it asks
// the UID where upstream has nothing left to ask.
func TestOrderIsTheRelationOutsideBuckets(t *testing.T) {
	t.Parallel()
	var alike, differ atomic.Int64
	rounds(t, 2, 0, 150, func(w *world, p *pool, a, b *sample) {
		want := says(t, w, a, b)
		ours, err := podrank.Explain(a.pod, b.pod, p.related, w.options(p.ranks...)...)
		if err != nil {
			t.Error(err)
		}
		if share(w, a.record.CreationTime, b.record.CreationTime) ||
			a.record.Flags&b.record.Flags&core.PodReady != 0 && share(w, a.record.ReadyTime, b.record.ReadyTime) {
			if ours.First != want {
				differ.Add(1)
			}
			return
		}
		alike.Add(1)
		if want == 0 {
			if ours.Rule != podrank.RuleUID && ours.Rule != "" {
				t.Errorf("upstream says tie, the order goes by %v\nnow %v\n%+v\n%+v", ours.Rule, w.now, a.pod, b.pod)
			}
		} else if ours.First != want || ours.Rule == podrank.RuleUID {
			t.Errorf("upstream says %d, the order %d by %v\nnow %v\n%+v\n%+v", want, ours.First, ours.Rule, w.now, a.pod, b.pod)
		}
	})
	t.Logf("%d pairs alike outside of shared buckets, %d unlike inside", alike.Load(), differ.Load())
	if alike.Load() < 300_000 || differ.Load() < 10_000 {
		t.Error("too few to tell")
	}
}

// share says whether two times differ and share a bucket, in either reckoning.
func share(w *world, s, t int64) bool {
	if w.now.IsZero() || s == t || s == core.TimeUnset || t == core.TimeUnset {
		return false
	}
	exact := func(age int64) int { return bits.Len64(uint64(max(age, 0))) }
	rounded := func(age int64) int {
		if age <= 0 {
			return -1
		}
		return int(math.Log2(float64(age)))
	}
	now := w.now.UnixNano()
	s, t = saturatingSub(now, s), saturatingSub(now, t)
	return exact(s) == exact(t) || rounded(s) == rounded(t)
}

// saturatingSub is a-b for an a that is not negative.
func saturatingSub(a, b int64) int64 {
	if b < a-math.MaxInt64 {
		return math.MaxInt64
	}
	return a - b
}

// Upstream's bucket of 2^e comes early by just the nanoseconds of order.md 3:
// an age shares a bucket with 2^e (the UID decides) or does not (the age does).
func TestEdges(t *testing.T) {
	t.Parallel()
	now := time.Unix(4e9, 0)
	w, r := &world{now: metav1.NewTime(now)}, seeded(3, 0)
	// The older pod has the smaller UID, so that it is before by UID alone.
	at := func(age uint64, uid string) *sample {
		p := &v1.Pod{}
		p.UID, p.CreationTimestamp.Time = types.UID(uid), ago(now, age)
		return &sample{pod: p}
	}
	for e := 1; e < 64; e++ {
		power, early := uint64(1)<<e, vectors.Early(e)
		below := []uint64{early, early + 1}
		for range 3_000 { // half of them near the edge, the others anywhere in the bucket
			below = append(below, 1+r.Uint64N(4*early+4), 1+r.Uint64N(power/2))
		}
		older := at(power, "a")
		for _, ns := range below {
			if ns == 0 || ns >= power {
				continue
			}
			want := -1
			if ns <= early {
				want = 1
			}
			if got := says(t, w, at(power-ns, "b"), older); got != want {
				t.Fatalf("2^%d-%d to 2^%d: %d, want %d", e, ns, e, got, want)
			}
		}
	}
}

// What order.md says that podrank does not tell apart, or saturates, and
// upstream does not.
func TestKnownDifferences(t *testing.T) {
	t.Parallel()
	year := func(n int) *v1.Pod {
		p := &v1.Pod{}
		p.UID, p.CreationTimestamp.Time = "00000000-0000-4000-8000-000000000001", time.Date(n, 1, 1, 0, 0, 0, 0, time.UTC)
		return p
	}
	fake, zero := year(2026), year(2026)
	fake.UID, zero.UID = "", "00000000-0000-0000-0000-000000000000"
	zero.CreationTimestamp.Time = zero.CreationTimestamp.Add(-time.Second)
	for _, c := range []struct {
		about string
		a, b  *v1.Pod
		now   time.Time
	}{
		{"later than 2262", year(4000), year(3000), time.Time{}},
		{"before 1677", year(1600), year(1500), time.Time{}},
		{"an empty UID and one of zeros", fake, zero, time.Unix(2e9, 0)},
	} {
		w := &world{now: metav1.NewTime(c.now)}
		a, b := &sample{pod: c.a, record: w.record(c.a, 0)}, &sample{pod: c.b, record: w.record(c.b, 0)}
		if got := says(t, w, a, b); got != -1 {
			t.Errorf("%s: upstream says %d", c.about, got)
		}
		if got, _ := library.Upstream(&a.record, &b.record, library.Time(w.now), false); got != 0 {
			t.Errorf("%s: podrank says %d", c.about, got)
		}
	}
}
