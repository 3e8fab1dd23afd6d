package podrank

import (
	"fmt"
	"math"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// IsActive reports whether a pod counts as one of its set's replicas: whether it is neither Succeeded nor Failed nor being
// deleted, as Kubernetes' IsPodActive. A nil pod does not count.
func IsActive(pod *corev1.Pod) bool {
	return pod != nil && pod.Status.Phase != corev1.PodSucceeded && pod.Status.Phase != corev1.PodFailed && pod.DeletionTimestamp == nil
}

// A State is what a sync knows of its set.
type State struct {
	// Desired is spec.replicas.
	Desired int
	// Active is the number of the set's active pods: see [IsActive].
	Active int
	// Burst is the most pods to create or delete. 0 means [BurstReplicas].
	Burst int
	// BeingDeleted is whether the set has a deletion timestamp.
	BeingDeleted bool
}

// Plan returns how many pods one sync of a set creates ([CreateInBatches]) or deletes ([PodsToDelete]), as Kubernetes'
// manageReplicas. At least one of the numbers is 0. The sync creates the shortfall or deletes the surplus, at most a burst,
// and the next sync does the rest. Both numbers are 0 until expectations are satisfied, and if the set is being deleted.
//
// satisfied is the result of [Expectations.Satisfied], called before the pods are listed, so that the list is no older than the
// answer. A controller that has no expectations passes true.
//
// A number in state that is negative or above math.MaxUint32 is an error that wraps [ErrOutOfRange].
func Plan(state State, satisfied bool) (creations, deletions int, err error) {
	for i, number := range [...]int{state.Desired, state.Active, state.Burst} {
		if uint64(number) > math.MaxUint32 { // or negative
			name := "State." + [...]string{"Desired", "Active", "Burst"}[i]
			return 0, 0, fmt.Errorf("podrank: %w", errRange(name, int64(number), 0, math.MaxUint32))
		}
	}
	if !satisfied || state.BeingDeleted {
		return 0, 0, nil
	}
	burst := state.Burst
	if burst == 0 {
		burst = BurstReplicas
	}
	missing := state.Desired - state.Active
	return min(max(missing, 0), burst), min(max(-missing, 0), burst), nil
}

// Availability counts the ready and the available pods of active. A pod is available if it has been ready for at least
// minReadySeconds at now. If minReadySeconds is 0 or less, every ready pod is available. Otherwise a pod without a ready time
// is not available, and if now is the zero time, no pod is.
//
// nextCheckAfter is the time until the next pod becomes available if it stays ready, to the nanosecond, or 0 if there is no pod to
// wait for. If a pod is nil or inactive, Availability returns an error that names it.
func Availability(active []*corev1.Pod, minReadySeconds int32, now time.Time) (
	ready, available int, nextCheckAfter time.Duration, err error,
) {
	for i, pod := range active {
		if err := errInactive(pod); err != nil {
			return 0, 0, 0, errPod("active", i, pod, err)
		}
	}
	for _, pod := range active {
		isReady, since := readiness(pod)
		if !isReady {
			continue
		}
		ready++
		if minReadySeconds <= 0 {
			available++
			continue
		}
		if now.IsZero() || since.IsZero() {
			continue
		}
		wait := since.Add(time.Duration(minReadySeconds) * time.Second).Sub(now)
		switch {
		case wait <= 0:
			available++
		case nextCheckAfter == 0 || wait < nextCheckAfter:
			nextCheckAfter = wait
		}
	}
	return ready, available, nextCheckAfter, nil
}
