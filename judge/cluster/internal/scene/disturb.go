package scene

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/podrank/podrank/judge/cluster/internal/control"
	"github.com/podrank/podrank/judge/cluster/internal/history"
	"github.com/podrank/podrank/judge/cluster/internal/must"
)

// By is the same workload in the hands of another user, such as an autoscaler.
func (w *Workload) By(plane *control.Plane) *Workload {
	other := *w
	other.plane = plane
	return &other
}

// IsDeployment says whether rollouts are possible.
func (w *Workload) IsDeployment() bool { return strings.HasPrefix(w.Target, "deploy/") }

// Resource is the workload's, with its name.
func (w *Workload) Resource() (resource, name string) { return w.resource() }

// Active are the names of the workload's active pods, in order.
func (w *Workload) Active() (names []string) {
	for _, pod := range w.history.Active(w.Namespace) {
		if !strings.HasPrefix(pod.Name, canary) {
			names = append(names, pod.Name)
		}
	}
	return names
}

// Nodes are those that have an active pod, of whomever but a DaemonSet.
func (w *Workload) Nodes() map[string]bool {
	nodes := map[string]bool{}
	w.history.Look(w.Namespace, func(n *history.Namespace) {
		for _, pod := range n.Pods {
			if history.IsActive(pod) && pod.Spec.NodeName != "" {
				nodes[pod.Spec.NodeName] = true
			}
		}
	})
	return nodes
}

// ScaleBy changes the count by so many, but not below one.
func (w *Workload) ScaleBy(ctx context.Context, by int32) {
	count, _ := w.count(ctx)
	w.Scale(ctx, max(1, count+by))
}

// Unready are the names of the active pods that are not ready.
func (w *Workload) Unready() (names []string) {
	for _, pod := range w.history.Active(w.Namespace) {
		if !history.IsReady(pod) && pod.Spec.NodeName != "" {
			names = append(names, pod.Name)
		}
	}
	return names
}

// SettleDown waits until the controllers have been quiet for a while, also if they cannot make all that the workload wants.
func (w *Workload) SettleDown(ctx context.Context) {
	const calm = 2 * time.Second
	patience, stop := context.WithTimeout(ctx, time.Minute)
	defer stop()
	err := must.Try(func() { w.history.AwaitQuiet(patience, w.Namespace, "calm", calm, (*history.Namespace).IsSettled) })
	if err != nil && (ctx.Err() != nil || !errors.Is(err, context.DeadlineExceeded)) {
		must.Do(fmt.Errorf("it does not settle down: %w", err))
	}
}

// Leases are podrank's in the workload's namespace.
func (w *Workload) Leases(ctx context.Context) []string { return w.State(ctx).Leases }

// Ready makes a pod ready.
func (w *Workload) Ready(ctx context.Context, pod string) { w.SetReady(ctx, pod, corev1.ConditionTrue) }
