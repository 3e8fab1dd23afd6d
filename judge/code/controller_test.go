package judge

import (
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
	"time"

	podrank "github.com/podrank/podrank/go"
	library "github.com/podrank/podrank/go/judge/internal/podrank"
	"github.com/podrank/podrank/go/judge/upstream"
)

// stableMoment is far from where a bucket or the sign of an age changes while
// upstream reads the wall clock: 11 s ago or more. Upstream's metric also needs
// creation times at least 1 ms from the wall clock, as it divides by that age.
func stableMoment(r *rand.Rand, now time.Time) time.Time {
	switch r.IntN(20) {
	case 0:
		return time.Time{}
	case 1:
		return now.Add(time.Hour)
	}
	age := time.Duration(1) << pick(r, 33, 34, 41, 41, 41, 41, 50)
	return now.Truncate(time.Second).Add(-age - age/4 - time.Duration(r.IntN(6))*age/16)
}

// The controller's own choice: its rank counting is podrank's, and its victims
// are the certain and some of the contested.
func TestPodsToDelete(t *testing.T) {
	t.Parallel()
	unclear, odd := 0, 0
	for round := range 2000 {
		r := seeded(5, round)
		w := newWorld(r, false, func(r *rand.Rand, _ time.Time, _ int) time.Time { return stableMoment(r, time.Now()) })
		active, _ := crowd(w, r.IntN(61))
		var records, others []library.Pod
		for _, p := range active {
			records = append(records, w.record(p, 0))
		}
		related := w.relatives(40)
		for _, p := range related {
			if upstream.IsActive(p) {
				others = append(others, w.record(p, 0))
			}
		}
		related = append(related, active...)
		r.Shuffle(len(related), func(i, j int) { related[i], related[j] = related[j], related[i] })
		if r.IntN(8) == 0 {
			related = nil // a ReplicaSet without a controller: all ranks are 0
		} else {
			library.CountRanks(records, others, len(w.nodes))
		}
		for i, rank := range upstream.Ranks(active, related) {
			if uint32(rank) != records[i].Rank {
				t.Fatalf("round %d: upstream's rank of pod %d is %d, podrank's %d", round, i, rank, records[i].Rank)
			}
		}

		k := r.IntN(len(active) + 1)
		if r.IntN(20) == 0 {
			k = len(active)
		}
		listed := slices.Clone(active)
		settle := func() podrank.Settled {
			s, err := podrank.Settle(listed, related, k)
			if err != nil {
				t.Fatal(err)
			}
			return s
		}
		before := settle()
		r.Shuffle(len(active), func(i, j int) { active[i], active[j] = active[j], active[i] })
		victims := upstream.PodsToDelete(active, related, k)
		if after := settle(); !reflect.DeepEqual(before, after) {
			odd++ // a bucket changed on the way: stableMoment should not let it
			continue
		}
		if err := whole(before, listed, k); err != nil {
			t.Fatal(err)
		}
		if between(t, "upstream", victims, before); t.Failed() {
			t.Fatalf("round %d", round)
		}
		if before.Quota > 0 {
			unclear++
		}
	}
	t.Logf("%d of 2000 scale-downs contested", unclear)
	if odd > 0 || unclear < 100 {
		t.Errorf("%d scale-downs contested, %d changed on the way", unclear, odd)
	}
}
