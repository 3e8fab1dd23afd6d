package podrank

import (
	"crypto/sha256"
	"math"
	"sync"
	"time"

	"github.com/podrank/podrank/go/internal/core"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

// ExpectationsTimeout is how long a set waits until everything that it expects is observed, as in Kubernetes. Sync a
// waiting set again after this time, because an event can be lost.
const ExpectationsTimeout = 5 * time.Minute

var _ = [1]int{}[ExpectationsTimeout-core.ExpectationsTimeout]

// Expectations are the changes that one set has requested and not yet observed: one entry of Kubernetes'
// UIDTrackingControllerExpectations. The zero value has none. Several goroutines may use Expectations concurrently,
// such as informer handlers while the set is synced. Expectations must not be copied.
//
// A controller observes the results of its requests with a delay. If it counted its pods in between, it would create or
// delete too many. So it first records what it expects, then sends the requests, and does nothing more until it has
// observed all of it.
//
// Deletions are identified by pod, and each counts once, because a deletion can be observed twice: when it begins and when
// the pod is gone. Creations are only counted, so do not report a pod twice.
type Expectations struct {
	// Clock returns the current time. nil means time.Now. Only differences count. If it returns the zero time, there is no
	// timeout. Set Clock before you use the Expectations.
	Clock func() time.Time

	mutex sync.Mutex
	state expected
	// The pods whose deletions are pending.
	deletions map[podKey]struct{}
}

// expected is what a set expects: the numbers are negative if more was observed.
type expected struct {
	isSet                bool
	since                time.Time
	creations, deletions int64
}

// ExpectCreations expects count creations and no deletion. Call it before you create pods. It replaces all earlier
// expectations. Only the pods whose deletion is pending stay known: if you report one of them later, the number of pending
// deletions falls below zero, which counts as satisfied.
func (e *Expectations) ExpectCreations(count int) {
	e.mutex.Lock()
	defer e.mutex.Unlock()
	e.state = expected{isSet: true, since: e.now(), creations: number(count)}
}

// ExpectDeletions expects the deletion of these pods, each once, and no creation, from now on: call it before you delete. It
// replaces what was expected. A pod that is nil is a [PodError], and nothing changes.
func (e *Expectations) ExpectDeletions(pods []*corev1.Pod) error {
	deletions := make(map[podKey]struct{}, len(pods))
	for i, pod := range pods {
		if pod == nil {
			return errPod("pods", i, pod, ErrNil)
		}
		deletions[keyOf(pod)] = struct{}{}
	}
	e.mutex.Lock()
	defer e.mutex.Unlock()
	e.state, e.deletions = expected{isSet: true, since: e.now(), deletions: int64(len(deletions))}, deletions
	return nil
}

// CreationsObserved counts count creations as observed. Report 1 for each new pod, and once the number of pods that could
// not be created, because you will never observe those. The number of pending creations may go below zero. Without
// expectations, CreationsObserved does nothing.
func (e *Expectations) CreationsObserved(count int) {
	e.mutex.Lock()
	defer e.mutex.Unlock()
	if e.state.isSet {
		e.state.creations -= number(count)
	}
}

// DeletionObserved counts the deletion of a pod as observed, and reports whether it was pending. If not, nothing changes,
// so you may report a deletion as often as you observe it. Report a pod that is being deleted, is gone or could not be
// deleted.
func (e *Expectations) DeletionObserved(pod *corev1.Pod) bool {
	if pod == nil {
		return false
	}
	key := keyOf(pod)
	e.mutex.Lock()
	defer e.mutex.Unlock()
	if _, ok := e.deletions[key]; !ok {
		return false
	}
	delete(e.deletions, key)
	e.state.deletions--
	return true
}

// Satisfied reports whether the set may act: no expectations are set, or all changes have been observed, or the
// expectations were set more than [ExpectationsTimeout] ago. Call it before you list the pods, so that the list is no older
// than the answer.
func (e *Expectations) Satisfied() bool {
	e.mutex.Lock()
	defer e.mutex.Unlock()
	if e.state.creations <= 0 && e.state.deletions <= 0 {
		return true
	}
	now := e.now()
	return !now.IsZero() && !e.state.since.IsZero() && now.Sub(e.state.since) > ExpectationsTimeout
}

// Clear removes all expectations. Call it when the set is gone, so that a new set with the same name starts without any.
func (e *Expectations) Clear() {
	e.mutex.Lock()
	defer e.mutex.Unlock()
	e.state, e.deletions = expected{}, nil
}

// Creations returns the number of pending creations. It is negative if more were observed than expected, and 0 if no
// expectations are set.
func (e *Expectations) Creations() int64 {
	e.mutex.Lock()
	defer e.mutex.Unlock()
	return e.state.creations
}

// Deletions returns the number of pending deletions. It is negative if more were observed than expected, and 0 if no
// expectations are set.
func (e *Expectations) Deletions() int64 {
	e.mutex.Lock()
	defer e.mutex.Unlock()
	return e.state.deletions
}

func (e *Expectations) now() time.Time {
	if e.Clock == nil {
		return time.Now()
	}
	return e.Clock()
}

// number is a count of pods, at least 0 and so small that no sum of them is too large.
func number(count int) int64 {
	return min(max(int64(count), 0), math.MaxUint32)
}

// A podKey identifies a pod.
type podKey [16]byte

// keyOf is the pod's UID, or a hash of one that is not a UUID. For a pod without one, as fakes are, it is a hash of what
// Kubernetes takes: namespace and name.
func keyOf(pod *corev1.Pod) (key podKey) {
	if pod.UID != "" && parseUID((*[16]byte)(&key), pod.UID) {
		return key
	}
	text := types.NamespacedName{Namespace: pod.Namespace, Name: pod.Name}.String()
	if pod.UID != "" {
		text = "UID " + string(pod.UID) // No namespace has a blank.
	}
	sum := sha256.Sum256([]byte(text))
	return podKey(sum[:len(key)])
}
