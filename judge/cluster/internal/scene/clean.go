package scene

import (
	"context"
	"errors"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podrank/podrank/judge/cluster/internal/control"
	"github.com/podrank/podrank/judge/cluster/internal/history"
)

// CleanUp removes a round's objects, so that the control plane does not grow. The namespaces stay, empty.
func CleanUp(ctx context.Context, plane *control.Plane, h *history.History, namespace string) error {
	now, all := int64(0), metav1.ListOptions{}
	background := metav1.DeletePropagationBackground
	owners := metav1.DeleteOptions{PropagationPolicy: &background}
	pods := plane.CoreV1().Pods(namespace)
	var names []string
	h.Look(namespace, func(n *history.Namespace) {
		for _, pod := range n.Pods {
			if len(pod.Finalizers) > 0 {
				names = append(names, pod.Name)
			}
		}
	})
	for _, name := range names {
		patch := []byte(`{"metadata":{"finalizers":null}}`)
		if _, err := pods.Patch(ctx, name, types.MergePatchType, patch, metav1.PatchOptions{}); err != nil {
			return err
		}
	}
	err := errors.Join(
		plane.AppsV1().Deployments(namespace).DeleteCollection(ctx, owners, all),
		plane.AppsV1().ReplicaSets(namespace).DeleteCollection(ctx, owners, all),
		plane.CoreV1().ReplicationControllers(namespace).DeleteCollection(ctx, owners, all),
		plane.CoreV1().ConfigMaps(namespace).DeleteCollection(ctx, owners, all),
		pods.DeleteCollection(ctx, metav1.DeleteOptions{GracePeriodSeconds: &now}, all),
	)
	if err != nil {
		return err
	}
	err = h.Await(ctx, namespace, "empty", func(n *history.Namespace) bool { return len(n.Sets)+len(n.Pods) == 0 })
	h.Forget(namespace)
	return err
}
