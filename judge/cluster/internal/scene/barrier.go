package scene

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podrank/podrank/judge/cluster/internal/history"
)

// barrier returns once kube-controller-manager has observed everything written before. Its controllers share one watch for
// all pods, which delivers events in the order of resource versions. So once a ReplicaSet with 0 replicas has adopted a new
// pod, all earlier changes to pods have been observed.
func (b *builder) barrier(ctx context.Context) error {
	const name = "canary"
	labels := map[string]string{"app": name}
	sets, pods := b.plane.AppsV1().ReplicaSets(b.namespace), b.plane.CoreV1().Pods(b.namespace)
	if err := b.replicaSet(ctx, name, labels, 0, nil); err != nil {
		return err
	}
	set := template(labels)
	set.Spec.SchedulingGates = []corev1.PodSchedulingGate{{Name: "podrank.dev/canary"}}
	pod, err := pods.Create(ctx, &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels}, Spec: set.Spec,
	}, metav1.CreateOptions{})
	if err != nil {
		return err
	}
	err = b.history.Await(ctx, b.namespace, "seen by the controller", func(n *history.Namespace) bool {
		for _, gone := range n.Gone { // unassigned, so that it goes at once when its set has taken it
			if gone.Pod.UID == pod.UID {
				return metav1.GetControllerOf(gone.Pod) != nil
			}
		}
		return false
	})
	if err != nil {
		return err
	}
	if err := sets.Delete(ctx, name, metav1.DeleteOptions{}); err != nil {
		return err
	}
	return b.history.Await(ctx, b.namespace, "rid of the canary", func(n *history.Namespace) bool {
		for _, set := range n.Sets {
			if set.Name == name {
				return false
			}
		}
		return n.IsSettled()
	})
}
