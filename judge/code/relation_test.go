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

	"github.com/podrank/podrank/go/judge/internal/podrank"
	"github.com/podrank/podrank/go/judge/internal/vectors"
	"github.com/podrank/podrank/go/judge/upstream"
)

const perRound = 10_000

type sample struct {
	pod    *v1.Pod
	rank   int
	record podrank.Pod
}

// samples are pods with ranks from a world.
func samples(w *world, n int) []sample {
	s := make([]sample, n)
	for i := range s {
		p, rank := w.pod(), of(w, "rank", 1, 2, 3, 0, math.MaxInt32)
		s[i] = sample{p, rank, w.record(p, rank)}
	}
	return s
}

// says is upstream's relation of two pods.
func says(t *testing.T, w *world, a, b *sample) podrank.Relation {
	ab := upstream.Less(a.pod, b.pod, a.rank, b.rank, w.now)
	ba := upstream.Less(b.pod, a.pod, b.rank, a.rank, w.now)
	switch {
	case ab && ba:
		t.Errorf("upstream says before both ways of\n%+v\n%+v", a.pod, b.pod)
	case ab:
		return podrank.Before
	case ba:
		return podrank.After
	}
	return podrank.Tie
}

func opposite(r podrank.Relation) podrank.Relation {
	return [...]podrank.Relation{podrank.Tie, podrank.After, podrank.Before}[r]
}

// rounds runs a check on random pairs, perRound of each world, on all cores.
func rounds(t *testing.T, test, from, to int, check func(w *world, a, b *sample)) {
	var next atomic.Int64
	next.Store(int64(from))
	var group sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		group.Go(func() {
			for !t.Failed() {
				round := int(next.Add(1)) - 1
				if round >= to {
					return
				}
				r := seeded(test, round)
				w := newWorld(r, round%5 > 0, anyMoment)
				pool := samples(w, 150)
				for range perRound {
					check(w, &pool[r.IntN(len(pool))], &pool[r.IntN(len(pool))])
				}
			}
		})
	}
	group.Wait()
}

// Ten million pairs: podrank_upstream is upstream's Less, asked both ways.
func TestRelation(t *testing.T) {
	var pairs, ties atomic.Int64
	var byRule [256]atomic.Int64
	for _, part := range []struct {
		from, to int
		costOff  bool
	}{{0, 800, false}, {800, 1000, true}} {
		costGate(t, !part.costOff)
		rounds(t, 1, part.from, part.to, func(w *world, a, b *sample) {
			policy := w.policy()
			policy.CostOff = part.costOff
			want := says(t, w, a, b)
			got, rule := podrank.Upstream(&a.record, &b.record, policy)
			if got != want {
				t.Errorf("upstream says %v, podrank %v by %v\nnow %v, cost gate off: %t\n%+v\n%+v\n%+v\n%+v",
					want, got, rule, w.now, part.costOff, a.pod, b.pod, a.record, b.record)
			}
			if back, _ := podrank.Upstream(&b.record, &a.record, policy); back != opposite(got) {
				t.Errorf("podrank says %v, and the other way round %v\n%+v\n%+v", got, back, a.record, b.record)
			}
			pairs.Add(1)
			byRule[rule].Add(1)
			if want == podrank.Tie {
				ties.Add(1)
			}
		})
	}
	if n := pairs.Load(); n < 10_000_000 {
		t.Errorf("only %d pairs", n)
	}
	t.Logf("%d pairs, %d of them ties", pairs.Load(), ties.Load())
	steps := 0
	for rule := range byRule {
		if n := byRule[rule].Load(); n > 0 {
			steps++
			t.Logf("%9d by %v", n, podrank.Rule(rule))
			if n < 50_000 {
				t.Errorf("too few pairs are settled by %v: %d", podrank.Rule(rule), n)
			}
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
	rounds(t, 2, 0, 150, func(w *world, a, b *sample) {
		policy := w.policy()
		want := says(t, w, a, b)
		order, rule := podrank.Decide(&a.record, &b.record, policy)
		got := [...]podrank.Relation{podrank.Before, podrank.Tie, podrank.After}[order+1]
		if share(w, a.record.CreationTime, b.record.CreationTime) ||
			a.record.Flags&b.record.Flags&podrank.Ready != 0 && share(w, a.record.ReadyTime, b.record.ReadyTime) {
			if got != want {
				differ.Add(1)
			}
			return
		}
		alike.Add(1)
		if want == podrank.Tie {
			if rule != podrank.RuleUID && rule != podrank.RuleNone {
				t.Errorf("upstream says tie, the order goes by %v\nnow %v\n%+v\n%+v", rule, w.now, a.pod, b.pod)
			}
		} else if got != want || rule == podrank.RuleUID {
			t.Errorf("upstream says %v, the order %v by %v\nnow %v\n%+v\n%+v", want, got, rule, w.now, a.pod, b.pod)
		}
	})
	t.Logf("%d pairs alike outside of shared buckets, %d unlike inside", alike.Load(), differ.Load())
	if alike.Load() < 300_000 || differ.Load() < 10_000 {
		t.Error("too few to tell")
	}
}

// share says whether two times differ and share a bucket, in either reckoning.
func share(w *world, s, t int64) bool {
	if w.now.IsZero() || s == t || s == podrank.TimeUnset || t == podrank.TimeUnset {
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
			want := podrank.Before
			if ns <= early {
				want = podrank.After
			}
			if got := says(t, w, at(power-ns, "b"), older); got != want {
				t.Fatalf("2^%d-%d to 2^%d: %v, want %v", e, ns, e, got, want)
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
		about         string
		a, b          *v1.Pod
		now           time.Time
		want, podrank podrank.Relation
	}{
		{"later than 2262", year(4000), year(3000), time.Time{}, podrank.Before, podrank.Tie},
		{"before 1677", year(1600), year(1500), time.Time{}, podrank.Before, podrank.Tie},
		{"an empty UID and one of zeros", fake, zero, time.Unix(2e9, 0), podrank.Before, podrank.Tie},
	} {
		w := &world{now: metav1.NewTime(c.now)}
		a, b := &sample{pod: c.a, record: w.record(c.a, 0)}, &sample{pod: c.b, record: w.record(c.b, 0)}
		if got := says(t, w, a, b); got != c.want {
			t.Errorf("%s: upstream says %v", c.about, got)
		}
		if got, _ := podrank.Upstream(&a.record, &b.record, w.policy()); got != c.podrank {
			t.Errorf("%s: podrank says %v", c.about, got)
		}
	}
}
