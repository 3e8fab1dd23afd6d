package podrank

import (
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// A Claim is what a set does with a pod.
type Claim uint8

// The claims.
const (
	// ClaimIgnore: the pod has another owner, or none and the set does not adopt it.
	ClaimIgnore Claim = iota
	// ClaimKeep: the set owns it, and its selector matches.
	ClaimKeep
	// ClaimRelease: the set owns it, but its selector no longer matches. Remove the set's owner reference. The pod does
	// not count.
	ClaimRelease
	// ClaimAdopt: nobody owns it, and the set's selector matches. Add the set's owner reference. The pod counts from
	// then on.
	//
	// The set may have been deleted since it was last seen: before the first adoption of a sync, read it from the API server
	// and not from a cache, and adopt nothing if it has another UID or is being deleted.
	ClaimAdopt
)

// String is the name in lower case.
func (c Claim) String() string {
	return nameOf("Claim", c, map[Claim]string{ClaimIgnore: "ignore", ClaimKeep: "keep", ClaimRelease: "release", ClaimAdopt: "adopt"})
}

// ClaimPod says what a set does with a pod, as Kubernetes' PodControllerRefManager: set is the workload, whose pods selector matches.
// A set that is being deleted neither adopts nor releases. A workload without a namespace can adopt pods of every namespace.
// Kubernetes asks about active pods (see [IsActive]) and, only to count them for [StatusOf], about pods that are being deleted. If
// an argument is nil, the error wraps [ErrNil], and the claim is
// ClaimIgnore.
func ClaimPod(set metav1.Object, selector labels.Selector, pod *corev1.Pod) (Claim, error) {
	switch {
	case isNil(set):
		return ClaimIgnore, errNil("set")
	case isNil(selector):
		return ClaimIgnore, errNil("selector")
	case pod == nil:
		return ClaimIgnore, errNil("pod")
	}
	owner, matches := metav1.GetControllerOfNoCopy(pod), selector.Matches(labels.Set(pod.Labels))
	isInNamespace := set.GetNamespace() == "" || set.GetNamespace() == pod.Namespace
	isBeingDeleted := set.GetDeletionTimestamp() != nil
	switch {
	case owner != nil && owner.UID != set.GetUID():
		return ClaimIgnore, nil
	case owner != nil && matches:
		return ClaimKeep, nil
	case isBeingDeleted:
		return ClaimIgnore, nil
	case owner != nil:
		return ClaimRelease, nil
	case matches && pod.DeletionTimestamp == nil && isInNamespace:
		return ClaimAdopt, nil
	}
	return ClaimIgnore, nil
}

// A Status has the numbers of a ReplicaSet's status.
type Status struct {
	// Replicas are the active pods, and FullyLabeled of them have all labels of the template.
	Replicas, FullyLabeled int
	// Ready and Available are as [Availability] counts them.
	Ready, Available int
	// Terminating pods are being deleted, and neither Succeeded nor Failed.
	Terminating int
	// NextCheckAfter is the time until the next pod becomes available if it stays ready, or 0 if there is none to wait
	// for.
	NextCheckAfter time.Duration
}

// StatusOf counts the pods that a set keeps and adopts, those being deleted included: as they were before the sync created or
// deleted any. templateLabels are those of its pod template. A nil pod is a [PodError].
func StatusOf(pods []*corev1.Pod, templateLabels map[string]string, minReadySeconds int32, now time.Time) (Status, error) {
	var status Status
	var active []*corev1.Pod
	template := labels.SelectorFromSet(templateLabels)
	for i, pod := range pods {
		switch {
		case pod == nil:
			return Status{}, errPod("pods", i, pod, ErrNil)
		case IsActive(pod):
			active = append(active, pod)
			if template.Matches(labels.Set(pod.Labels)) {
				status.FullyLabeled++
			}
		case pod.Status.Phase != corev1.PodSucceeded && pod.Status.Phase != corev1.PodFailed:
			status.Terminating++
		}
	}
	var err error
	status.Replicas = len(active)
	status.Ready, status.Available, status.NextCheckAfter, err = Availability(active, minReadySeconds, now)
	return status, err
}

// UpdateReplicaFailure returns the conditions of a set after a sync that had to create or delete this many pods, and ended with err,
// or with nil. While syncs fail, the condition ReplicaFailure keeps its first reason, message and time. A sync without an error
// removes it. The result is a new list: UpdateReplicaFailure does not write to the memory of conditions, which may be a cache's.
func UpdateReplicaFailure(conditions []appsv1.ReplicaSetCondition, creations, deletions int, err error, now time.Time) []appsv1.ReplicaSetCondition {
	isFailure := func(condition appsv1.ReplicaSetCondition) bool {
		return condition.Type == appsv1.ReplicaSetReplicaFailure
	}
	conditions = slices.Clone(conditions)
	switch {
	case err == nil:
		return slices.DeleteFunc(conditions, isFailure)
	case slices.ContainsFunc(conditions, isFailure):
		return conditions
	}
	failure := appsv1.ReplicaSetCondition{
		Type: appsv1.ReplicaSetReplicaFailure, Status: corev1.ConditionTrue, LastTransitionTime: metav1.NewTime(now),
		Message: err.Error(),
	}
	switch {
	case creations > 0:
		failure.Reason = "FailedCreate"
	case deletions > 0:
		failure.Reason = "FailedDelete"
	}
	return append(conditions, failure)
}
