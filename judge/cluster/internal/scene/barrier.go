package scene

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podrank/podrank/judge/cluster/internal/history"
	"github.com/podrank/podrank/judge/cluster/internal/must"
)

// barrier returns once kube-controller-manager has observed everything written before. Its controllers share one watch for
// all pods, which delivers events in the order of resource versions. So once a ReplicaSet with 0 replicas has adopted a new
// pod, all earlier changes to pods have been observed.
func (b *builder) barrier(ctx context.Context) {
	const name = "barrier"
	labels := map[string]string{"app": name}
	b.replicaSet(ctx, name, labels, 0)
	set := template(labels)
	set.Spec.SchedulingGates = []corev1.PodSchedulingGate{{Name: "podrank.dev/barrier"}}
	pod := b.plane.Create(ctx, &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: b.namespace, Labels: labels}, Spec: set.Spec,
	})
	b.history.Await(ctx, b.namespace, "seen by the controller", func(n *history.Namespace) bool {
		for _, gone := range n.Gone { // unassigned, so that it is deleted immediately once its set has adopted it
			if gone.Pod.UID == pod.GetUID() {
				return metav1.GetControllerOf(gone.Pod) != nil
			}
		}
		return false
	})
	must.Do(b.plane.Of("replicasets", b.namespace).Delete(ctx, name, metav1.DeleteOptions{}))
	b.history.Await(ctx, b.namespace, "rid of the barrier pod", func(n *history.Namespace) bool {
		for _, set := range n.Sets {
			if set.Name == name {
				return false
			}
		}
		return n.IsSettled()
	})
}
