package scene

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

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

// Active are the names of the workload's active pods, in order.
func (w *Workload) Active() (names []string) {
	for _, pod := range w.history.Active(w.Namespace) {
		if !strings.HasPrefix(pod.Name, barrier) {
			names = append(names, pod.Name)
		}
	}
	return names
}

// Nodes are the nodes that have active pods, each with the number of pods of the workload, and of other pods except
// those that are deleted with their node.
func (w *Workload) Nodes() (own, others map[string]int) {
	own, others = map[string]int{}, map[string]int{}
	w.history.Look(w.Namespace, func(n *history.Namespace) {
		for _, pod := range n.Pods {
			owner := metav1.GetControllerOf(pod)
			switch {
			case !history.IsActive(pod) || pod.Spec.NodeName == "" || owner != nil && leavesWithNode(owner):
			case owner == nil:
				others[pod.Spec.NodeName]++
			default:
				own[pod.Spec.NodeName]++
			}
		}
	})
	return own, others
}

// ScaleBy changes the count by so many, but not below one.
func (w *Workload) ScaleBy(ctx context.Context, by int32) {
	w.Scale(ctx, max(1, w.count(ctx)+by))
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
