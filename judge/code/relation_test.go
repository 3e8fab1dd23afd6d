package judge

import (
	"fmt"
	"math"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	podrank "github.com/podrank/podrank/go"
	library "github.com/podrank/podrank/go/judge/internal/podrank"
	"github.com/podrank/podrank/go/judge/upstream"
)

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
		p.samples[i] = sample{pod, ranks[i], library.Record(pod, ranks[i])}
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

// relation returns the Go module's version of upstream's relation of two pods: -1 if a is certainly deleted first.
func relation(t *testing.T, a, b *v1.Pod, related []*v1.Pod, options ...podrank.Option) int {
	s, err := podrank.Predict([]*v1.Pod{a, b}, related, 1, options...)
	switch {
	case err != nil || len(s.Deleted)+s.Quota != 1 || len(s.Deleted)+len(s.Possible)+len(s.Kept) != 2:
		t.Errorf("%+v, %v", s, err)
	case s.Quota > 0:
		return 0
	case s.Deleted[0] == a:
		return -1
	}
	return 1
}

// Ten million pairs: podrank_kubernetes_compare is upstream's Less, asked both ways. So is what the Go module certainly deletes first of the two,
// from the conversion to the ranks, and pods that tie are possible.
func TestRelation(t *testing.T) {
	rules := map[string]int{}
	for costOff, worlds := range map[bool][2]int{false: {0, 800}, true: {800, 200}} {
		costGate(t, !costOff)
		tally := judgeWorkloads(t, worlds[0], worlds[1], func() (judge, error) {
			return func(number int, tally map[string]int) error {
				r := seeded(1, number)
				w := newWorld(r, number%5 > 0, anyMoment)
				p := newPool(w, 150)
				for range 10_000 {
					i := r.IntN(len(p.samples))
					j := (i + 1 + r.IntN(len(p.samples)-1)) % len(p.samples)
					rule, err := p.judge(t, w, &p.samples[i], &p.samples[j], costOff)
					if err != nil {
						return fmt.Errorf("%w\nnow %v, cost gate off: %t\n%+v\n%+v", err, w.now, costOff, p.samples[i], p.samples[j])
					}
					tally[rule]++
				}
				return nil
			}, nil
		})
		for rule, count := range tally {
			rules[rule] += count
		}
	}
	// Ten rules and none, without the label.
	for rule, count := range rules {
		if count < 50_000 || len(rules) != 11 {
			t.Errorf("%d pairs are settled by %q, in one of %d ways", count, rule, len(rules))
		}
	}
}

// judge compares what upstream and podrank say of two pods, and returns the rule that settles it.
func (p *pool) judge(t *testing.T, w *world, a, b *sample, costOff bool) (string, error) {
	want, now := says(t, w, a, b), library.Time(&w.now)
	got, rule := library.Upstream(&a.record, &b.record, now, costOff)
	back, _ := library.Upstream(&b.record, &a.record, now, costOff)
	options := w.options(append(p.ranks, podrank.WithPodDeletionCost(!costOff))...)
	if ours := relation(t, a.pod, b.pod, p.related, options...); got != want || back != -want || ours != want {
		return "", fmt.Errorf("upstream says %d, podrank %d by %s and the other way round %d, the Go module %d",
			want, got, library.RuleName(rule), back, ours)
	}
	// Without age buckets, the comparator is podrank's own order but for ties, which end with the UID.
	if w.now.IsZero() {
		e, err := podrank.Explain(a.pod, b.pod, p.related, options...)
		isTie := e.Rule == podrank.RuleUID || e.Rule == ""
		if err != nil || isTie != (want == 0) || !isTie && e.First != want {
			return "", fmt.Errorf("upstream says %d, and the order: %+v, %v", want, e, err)
		}
	}
	return library.RuleName(rule), nil
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
		a, b := &sample{pod: c.a, record: library.Record(c.a, 0)}, &sample{pod: c.b, record: library.Record(c.b, 0)}
		if got := says(t, w, a, b); got != -1 {
			t.Errorf("%s: upstream says %d", c.about, got)
		}
		if got, _ := library.Upstream(&a.record, &b.record, library.Time(&w.now), false); got != 0 {
			t.Errorf("%s: podrank says %d", c.about, got)
		}
	}
}
