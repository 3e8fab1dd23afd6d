package preview

import (
	"encoding/json"
	"testing"
	"time"
)

// An age is in another bucket once it has reached a power of two, in nanoseconds, so another time is needed then.
func TestMoments(t *testing.T) {
	var dump Dump
	const text = `{"items":[
		{"kind":"Pod","metadata":{"creationTimestamp":"2026-01-01T00:00:00Z"},"status":{"conditions":[
			{"type":"Ready","lastTransitionTime":"2026-01-01T00:00:04Z"},{"type":"Ready","lastTransitionTime":null},
			{"type":"Other","lastTransitionTime":"2026-01-01T00:00:03Z"}]}},
		{"kind":"ReplicaSet","metadata":{"creationTimestamp":"2026-01-01T00:00:05Z"}}]}`
	if err := json.Unmarshal([]byte(text), &dump); err != nil {
		t.Fatal(err)
	}
	created := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	ready := created.Add(4 * time.Second)
	for _, c := range []struct {
		at      time.Time // 100 ns before and after
		moments int
	}{
		{ready.Add(time.Second), 1},
		{created.Add(1 << 40), 2},
		{ready.Add(1 << 40), 2},
		{created.Add(1<<40 + 101), 1},                  // it has just reached it
		{ready, 7},                                     // out of the future: edges at 1, 2, 4 ... 64 ns
		{created.Add(3 * time.Second).Add(1 << 40), 1}, // not the condition Ready
		{created.Add(5 * time.Second).Add(1 << 40), 1}, // no pod
	} {
		from, to := c.at.Add(-100), c.at.Add(100)
		moments := dump.Moments(from, to)
		if len(moments) != c.moments {
			t.Errorf("around %v: %v, want %d moments", c.at, moments, c.moments)
		}
		for _, moment := range moments {
			if moment.Before(from) || moment.After(to) {
				t.Errorf("%v is not between %v and %v", moment, from, to)
			}
		}
	}
	two := dump.Moments(created.Add(1<<40-100), created.Add(1<<40+100))
	if edge := created.Add(1 << 40); !two[0].Before(edge) || two[1].Before(edge) {
		t.Errorf("%v are not on both sides of %v", two, edge)
	}
}
