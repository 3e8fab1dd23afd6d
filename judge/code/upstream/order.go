// Package upstream runs Kubernetes' own ReplicaSet code, so that podrank's
// answers can be checked against it and not against a reading of it.
//
// Nothing here decides anything: each function hands its arguments to the
// pinned k8s.io/kubernetes release and returns what that release says.
package upstream

import (
	"sort"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/kubernetes/pkg/apis/core/helper"
	"k8s.io/kubernetes/pkg/controller"
)

// Less reports whether upstream prefers to delete a before b. A zero now turns
// upstream's log2 age buckets off.
func Less(a, b *v1.Pod, rankA, rankB int, now metav1.Time) bool {
	// Arrays on the stack: a judge is called millions of times.
	pods, ranks := [2]*v1.Pod{a, b}, [2]int{rankA, rankB}
	return controller.ActivePodsWithRanks{Pods: pods[:], Rank: ranks[:], Now: now}.Less(0, 1)
}

// Sort orders pods and ranks in place, with sort.Sort as upstream does. That
// sort is not stable, and Less is not a strict weak order: the result depends on
// the order of the input and on the Go release.
func Sort(pods []*v1.Pod, ranks []int, now metav1.Time) {
	sort.Sort(controller.ActivePodsWithRanks{Pods: pods, Rank: ranks, Now: now})
}

// DeletionCost reads controller.kubernetes.io/pod-deletion-cost; 0 when it is
// absent or, with an error, when it is malformed.
func DeletionCost(annotations map[string]string) (int32, error) {
	return helper.GetDeletionCostFromPodAnnotations(annotations)
}
