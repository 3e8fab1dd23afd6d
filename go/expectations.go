package podrank

import (
	"crypto/sha256"
	"sync"
	"time"

	"github.com/podrank/podrank/go/internal/cpodrank"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

// ExpectationsTimeout is how long expectations are waited for, as in Kubernetes. An event can be lost: a set that waits is to
// be looked at again then.
const ExpectationsTimeout = 5 * time.Minute

var _ = [1]int{}[ExpectationsTimeout-cpodrank.ExpectationsTimeout]

// Expectations are what one set has asked for and not yet seen: one entry of Kubernetes' UIDTrackingControllerExpectations. The
// zero value has none. They are for use by any number of goroutines, as the informer's handlers run while the set is synced,
// and must not be copied.
//
// A controller sees the outcome of its requests later than it made them. If it counted its pods meanwhile, it would create and
// delete too many. So it first says what it expects to see, then asks for it, and does nothing more until all of it was seen.
//
// Deletions are known by pod and each counts once, for a deletion can be seen twice: when it begins and when the pod is gone.
// Creations are only counted: do not report one pod twice.
type Expectations struct {
	// Clock says what time it is; nil means time.Now. Only differences count, and at the zero time nothing times out. Set it
	// before anything else.
	Clock func() time.Time

	mutex sync.Mutex
	state cpodrank.Expectations
	room  []cpodrank.PodKey
}

// ExpectCreations expects so many creations and no deletion, from now on: call it before you create. It replaces what was
// expected, but for the pods whose deletions were not yet seen: seen now, they lower the number of deletions below zero.
func (e *Expectations) ExpectCreations(count int) error {
	e.mutex.Lock()
	defer e.mutex.Unlock()
	return cpodrank.ExpectCreations(&e.state, number(count), e.now())
}

// ExpectDeletions expects the deletion of these pods, each once, and no creation, from now on: call it before you delete. It
// replaces what was expected. A pod that is nil or has a UID that is no UUID is an error that names it, and nothing changes.
//
// Each pod is compared with those before it, which is nothing for a burst of [BurstReplicas].
func (e *Expectations) ExpectDeletions(pods []*corev1.Pod) error {
	keys := make([]cpodrank.PodKey, len(pods))
	for i, pod := range pods {
		var err error
		if keys[i], err = podKey(pod); err != nil {
			return errPod(i, pod, err)
		}
	}
	e.mutex.Lock()
	defer e.mutex.Unlock()
	room := make([]cpodrank.PodKey, len(keys))
	err := cpodrank.ExpectDeletions(&e.state, room, keys, e.now())
	if err == nil {
		e.room = room
	}
	return err
}

// CreationsObserved takes count creations for seen: 1 for each pod that came, and as many as could not be created and never
// will be seen. The number may go below zero. It does nothing if no expectations are set.
func (e *Expectations) CreationsObserved(count int) {
	e.mutex.Lock()
	defer e.mutex.Unlock()
	// Where there is no library, there are no expectations.
	_ = cpodrank.CreationsObserved(&e.state, number(count))
}

// DeletionObserved takes the deletion of a pod for seen: it is being deleted, or gone, or could not be deleted. It says whether
// that was expected and not seen before; else nothing changes. Report a deletion as often as you hear of it.
func (e *Expectations) DeletionObserved(pod *corev1.Pod) bool {
	key, err := podKey(pod)
	if err != nil {
		return false
	}
	e.mutex.Lock()
	defer e.mutex.Unlock()
	counted, _ := cpodrank.DeletionObserved(&e.state, e.room, key)
	if e.state.Keys == 0 {
		e.room = nil
	}
	return counted
}

// Satisfied says whether the set may act: none are set, or all was seen, or they were set more than [ExpectationsTimeout] ago.
// Ask before you list the pods: what is seen in between is then in the list.
func (e *Expectations) Satisfied() bool {
	e.mutex.Lock()
	defer e.mutex.Unlock()
	satisfied, err := cpodrank.Satisfied(&e.state, e.now())
	return satisfied || err != nil
}

// Clear forgets all: for when the set is gone, so that another of its name starts anew.
func (e *Expectations) Clear() {
	e.mutex.Lock()
	defer e.mutex.Unlock()
	e.state, e.room = cpodrank.Expectations{}, nil
}

// Creations is how many are yet to be seen; negative if more were seen than expected, 0 if none are set.
func (e *Expectations) Creations() int64 {
	e.mutex.Lock()
	defer e.mutex.Unlock()
	return e.state.Creations
}

// Deletions is how many are yet to be seen; negative if more were seen than expected, 0 if none are set.
func (e *Expectations) Deletions() int64 {
	e.mutex.Lock()
	defer e.mutex.Unlock()
	return e.state.Deletions
}

// started is what times are counted from: so time.Now is compared by its monotonic clock.
var started = time.Now()

func (e *Expectations) now() int64 {
	clock := e.Clock
	if clock == nil {
		clock = time.Now
	}
	now := clock()
	if now.IsZero() {
		return cpodrank.Unset
	}
	return max(int64(now.Sub(started)), cpodrank.Unset+1)
}

// podKey is the pod's UID; of a pod without one, as fakes are, what Kubernetes takes: namespace and name, which are hashed.
func podKey(pod *corev1.Pod) (key cpodrank.PodKey, err error) {
	if pod == nil {
		return key, errNil
	}
	if pod.UID == "" {
		sum := sha256.Sum256([]byte(types.NamespacedName{Namespace: pod.Namespace, Name: pod.Name}.String()))
		return cpodrank.PodKey(sum[:len(key)]), nil
	}
	err = parseUID((*[16]byte)(&key), pod.UID)
	return key, err
}
