package podrank

import (
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Each test here catches a bug that was planted once, and that no other test saw.

// Names whose hashes are equal are not taken for one: with a table that only looks at hashes, some of so many names would be.
func TestNodesAreToldApartByName(t *testing.T) {
	var n nodes
	n.reset(8)
	number := n.number("a")
	// As if the hash of "a" were that of "b".
	_, hash := n.find("b")
	for i := range n.slots {
		n.slots[i] = slot{}
	}
	n.slots[int(hash)&(len(n.slots)-1)] = slot{hash, number + 1}
	if got := n.number("b"); got == number {
		t.Error("a and b are one node")
	}
	if n.names[n.number("b")] != "b" || len(n.names) != 2 {
		t.Error(n.names)
	}
}

// Nor by the rest of a table that is almost full: 3,000 names get 3,000 numbers, and the same ones again.
func TestManyNodes(t *testing.T) {
	var n nodes
	n.reset(3000)
	numbers := map[uint32]string{}
	for range 2 {
		for i := range 3000 {
			name := fmt.Sprint("node-", i)
			number := n.number(name)
			if was, ok := numbers[number]; ok && was != name {
				t.Fatalf("%s and %s are one", was, name)
			}
			numbers[number] = name
		}
	}
	if len(numbers) != 3000 {
		t.Error(len(numbers))
	}
}

// A wall clock that is set does not end the wait, and does not prolong it: the monotonic clock counts.
func TestExpectationsFollowTheMonotonicClock(t *testing.T) {
	// A time of time.Now has both readings: Round strips the monotonic one.
	var e Expectations
	at := time.Now()
	e.Clock = func() time.Time { return at }
	e.ExpectCreations(1)
	if since := e.state.since.String(); !strings.Contains(since, " m=") {
		t.Errorf("%s has no monotonic reading", since)
	}
	at = at.Add(ExpectationsTimeout)
	if e.Satisfied() {
		t.Error("satisfied at the timeout")
	}
	at = at.Add(1)
	if !e.Satisfied() {
		t.Error("not satisfied after the timeout")
	}
}

// A deletion timestamp counts, whatever time it says: the zero time is one, too.
func TestTheZeroDeletionTimestampCounts(t *testing.T) {
	for _, at := range []metav1.Time{{}, metav1.NewTime(time.Unix(0, 0)), metav1.NewTime(noon.Add(time.Hour))} {
		pod := named("a", 1)
		pod.DeletionTimestamp = &at
		if IsActive(pod) {
			t.Errorf("active, being deleted at %v", at)
		}
		if _, _, _, err := Availability([]*corev1.Pod{pod}, 0, noon); err == nil {
			t.Errorf("available, being deleted at %v", at)
		}
		status, err := StatusOf([]*corev1.Pod{pod}, nil, 0, noon)
		if err != nil || status != (Status{Terminating: 1}) {
			t.Errorf("%+v, %v", status, err)
		}
	}
}
