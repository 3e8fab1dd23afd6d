package podrank

import (
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/podrank/podrank/go/internal/cpodrank"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// IsActive says whether a pod counts as one of its set's replicas, as Kubernetes has it: it is neither Succeeded nor Failed nor
// being deleted.
func IsActive(pod *corev1.Pod) bool {
	return pod.Status.Phase != corev1.PodSucceeded && pod.Status.Phase != corev1.PodFailed && pod.DeletionTimestamp == nil
}

var (
	errInactive = errors.New("is not active: it is Succeeded, Failed or being deleted")
	errNil      = errors.New("is nil")
)

// errPod says which pod of a list is wrong, and how.
func errPod(index int, pod *corev1.Pod, err error) error {
	if pod == nil {
		return fmt.Errorf("podrank: pod %d %w", index, errNil)
	}
	return fmt.Errorf("podrank: pod %d, %s/%s: %w", index, pod.Namespace, pod.Name, err)
}

// A State is what a sync knows of its set.
type State struct {
	// Wanted is spec.replicas.
	Wanted int
	// Active is the number of the set's active pods: see [IsActive].
	Active int
	// Burst is how many are created or deleted at most; 0 means [BurstReplicas].
	Burst int
	// Satisfied is what [Expectations.Satisfied] said, asked before the pods were listed.
	Satisfied bool
	// BeingDeleted is whether the set has a deletion timestamp.
	BeingDeleted bool
}

// Plan says what one sync of a set does, as Kubernetes' manageReplicas: creates so many pods ([CreateInBatches]) or deletes so
// many ([PodsToDelete]), or neither. As many are created or deleted as are missing or too many, and a burst at most; the next
// sync goes on. Nothing is done before expectations are satisfied, nor for a set that is being deleted.
func Plan(state State) (creations, deletions int, err error) {
	numbers := [...]int{state.Wanted, state.Active, state.Burst}
	for i, number := range numbers {
		if uint64(number) > math.MaxUint32 { // or negative
			return 0, 0, fmt.Errorf("podrank: State.%s is %d", [...]string{"Wanted", "Active", "Burst"}[i], number)
		}
	}
	if numbers[2] == 0 {
		numbers[2] = BurstReplicas
	}
	create, del, err := cpodrank.Plan(uint32(numbers[0]), uint32(numbers[1]), uint32(numbers[2]),
		state.Satisfied, state.BeingDeleted)
	return int(create), int(del), err
}

// Availability counts the ready pods of active, and the available ones: ready for minReadySeconds or longer at this now. If
// that is 0, ready is available; if not, a pod without a ready time is not, and none is at the zero time.
//
// lookAgain is in how long the next of them is available if it stays ready, and not a nanosecond earlier; 0 if there is none
// to wait for. A pod that is nil or inactive is an error that names it.
func Availability(active []*corev1.Pod, minReadySeconds int32, now time.Time) (
	ready, available int, lookAgain time.Duration, err error,
) {
	records := make([]cpodrank.Record, len(active))
	for i, pod := range active {
		if pod == nil || !IsActive(pod) {
			return 0, 0, 0, errPod(i, pod, errInactive)
		}
		fillReady(&records[i], pod)
	}
	at := nanos(&metav1.Time{Time: now})
	ready, available, nanoseconds, err := cpodrank.Availability(records, uint32(max(minReadySeconds, 0)), at)
	return ready, available, time.Duration(nanoseconds), err
}
