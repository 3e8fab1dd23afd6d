// Package crowd keeps a control plane busy: clients that create, change and delete pods in namespaces of their own as fast as
// they are answered, so that the controllers' watches lag.
package crowd

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	typed "k8s.io/client-go/kubernetes/typed/core/v1"

	"github.com/podrank/podrank/judge/cluster/internal/control"
)

// Namespaces returns the namespaces of this many clients.
func Namespaces(clients int) []string {
	var names []string
	for i := range clients {
		names = append(names, fmt.Sprintf("busy-%d", i))
	}
	return names
}

// Start sets the clients to work until the context ends.
func Start(ctx context.Context, plane *control.Plane, clients int) {
	for _, name := range Namespaces(clients) {
		plane.Ensure(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}})
		go work(ctx, plane.CoreV1().Pods(name))
	}
}

// work makes a few pods and changes them, over and over, whatever it is answered.
func work(ctx context.Context, pods typed.PodInterface) {
	const names, changes = 8, 6
	now := int64(0)
	for turn := 0; ctx.Err() == nil; turn++ {
		name := fmt.Sprintf("pod-%d", turn%names)
		_ = pods.Delete(ctx, name, metav1.DeleteOptions{GracePeriodSeconds: &now})
		_, _ = pods.Create(ctx, &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"app": "busy"}},
			Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "none"}},
				SchedulingGates: []corev1.PodSchedulingGate{{Name: "example.com/busy"}}},
		}, metav1.CreateOptions{})
		for change := range changes {
			patch, subresources := `{"metadata":{"annotations":{"turn":"%d"}}}`, []string(nil)
			if change%2 == 1 {
				patch, subresources = `{"status":{"message":"%d"}}`, []string{"status"}
			}
			patch = fmt.Sprintf(patch, turn*changes+change)
			_, _ = pods.Patch(ctx, name, types.MergePatchType, []byte(patch), metav1.PatchOptions{}, subresources...)
		}
	}
}
