package judge

import (
	"math/rand/v2"
	"reflect"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podrank/podrank/go/judge/internal/podrank"
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
		active, records := make([]*v1.Pod, r.IntN(61)), []podrank.Pod(nil)
		for i := range active {
			active[i] = w.pod()
			records = append(records, w.record(active[i], 0))
		}
		// Some relatives of the active pods are not active and do not count.
		related, others := append([]*v1.Pod(nil), active...), []podrank.Pod(nil)
		for range r.IntN(40) {
			p := w.pod()
			switch r.IntN(6) {
			case 0:
				p.Status.Phase = pick(r, v1.PodSucceeded, v1.PodFailed)
			case 1:
				p.DeletionTimestamp = &metav1.Time{Time: time.Unix(1e9, 0)}
			default:
				others = append(others, w.record(p, 0))
			}
			related = append(related, p)
		}
		r.Shuffle(len(related), func(i, j int) { related[i], related[j] = related[j], related[i] })
		if r.IntN(8) == 0 {
			related = nil // a ReplicaSet without a controller: all ranks are 0
		} else {
			podrank.CountRanks(records, others, len(w.nodes))
		}

		place := make(map[*v1.Pod]int, len(active))
		for i, rank := range upstream.Ranks(active, related) {
			place[active[i]] = i
			if uint32(rank) != records[i].Rank {
				t.Fatalf("round %d: upstream's rank of pod %d is %d, podrank's %d", round, i, rank, records[i].Rank)
			}
		}

		k := r.IntN(len(active) + 1)
		if r.IntN(20) == 0 {
			k = len(active)
		}
		before := settleAt(time.Now(), records, k)
		r.Shuffle(len(active), func(i, j int) { active[i], active[j] = active[j], active[i] })
		victims := upstream.PodsToDelete(active, related, k)
		if after := settleAt(time.Now(), records, k); !reflect.DeepEqual(before, after) {
			odd++ // a bucket changed on the way: stableMoment should not let it
			continue
		}
		if err := whole(before, len(active), k); err != nil {
			t.Fatal(err)
		}
		goes := map[int]bool{}
		for _, p := range victims {
			goes[place[p]] = true
		}
		if len(goes) != k {
			t.Fatalf("round %d: %d victims, want %d", round, len(goes), k)
		}
		for _, i := range before.Certain {
			if !goes[int(i)] {
				t.Fatalf("round %d: pod %d is certain and stays", round, i)
			}
		}
		for _, i := range before.Safe {
			if goes[int(i)] {
				t.Fatalf("round %d: pod %d is safe and goes", round, i)
			}
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

func settleAt(now time.Time, records []podrank.Pod, k int) podrank.Settled {
	return podrank.Settle(records, k, podrank.Policy{Now: now.UnixNano()})
}
