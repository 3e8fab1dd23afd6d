package scene

import (
	"context"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podrank/podrank/judge/cluster/internal/history"
	"github.com/podrank/podrank/judge/cluster/internal/must"
	"github.com/podrank/podrank/judge/cluster/internal/verdict"
)

// State reads the workload's namespace as it is now.
func (w *Workload) State(ctx context.Context) *verdict.State {
	plane, namespace := w.plane, w.Namespace
	s := &verdict.State{Count: w.count(ctx), Pods: map[types.UID]verdict.PodState{}}
	for _, pod := range must.Get(plane.CoreV1().Pods(namespace).List(ctx, metav1.ListOptions{})).Items {
		if isBarrier(&pod) {
			s.Barriers = append(s.Barriers, "pod/"+pod.Name)
		}
		owner := metav1.GetControllerOf(&pod)
		if !history.IsActive(&pod) || owner == nil || leavesWithNode(owner) || strings.HasPrefix(owner.Name, barrier) {
			continue
		}
		p := verdict.PodState{Name: pod.Name, Cost: pod.Annotations[corev1.PodDeletionCost]}
		for key := range pod.Annotations {
			if strings.HasPrefix(key, "podrank.dev/") {
				p.Marks = append(p.Marks, key)
			}
		}
		p.Ours = managesCost(&pod, "podrank")
		s.Pods[pod.UID] = p
	}
	for _, set := range must.Get(plane.AppsV1().ReplicaSets(namespace).List(ctx, metav1.ListOptions{})).Items {
		if isBarrier(&set) {
			s.Barriers = append(s.Barriers, "replicaset/"+set.Name)
		}
	}
	for _, lease := range must.Get(plane.CoordinationV1().Leases(namespace).List(ctx, metav1.ListOptions{})).Items {
		if strings.HasPrefix(lease.Name, "podrank-") {
			s.Leases = append(s.Leases, "lease/"+lease.Name)
		}
	}
	return s
}

// leavesWithNode says whether the pods of this owner leave with their node.
func leavesWithNode(owner *metav1.OwnerReference) bool {
	return owner.Kind == "DaemonSet" || owner.Kind == "Node"
}

func managesCost(pod *corev1.Pod, manager string) bool {
	return slices.ContainsFunc(pod.ManagedFields, func(entry metav1.ManagedFieldsEntry) bool {
		return entry.Manager == manager && entry.FieldsV1 != nil &&
			strings.Contains(entry.FieldsV1.String(), corev1.PodDeletionCost)
	})
}

// barrier is how the names of the objects of podrank's barrier begin.
const barrier = "podrank-barrier"

func isBarrier(object metav1.Object) bool {
	return object.GetDeletionTimestamp() == nil &&
		(strings.HasPrefix(object.GetName(), barrier) || object.GetLabels()["podrank.dev/barrier"] != "")
}
