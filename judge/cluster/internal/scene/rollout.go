package scene

import (
	"context"
	"math/rand/v2"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podrank/podrank/judge/cluster/internal/control"
	"github.com/podrank/podrank/judge/cluster/internal/history"
)

// Rollout makes a ReplicaSet `web` of pods as an ordinary rollout leaves them: ready in four distinct seconds, 5 s after
// they were created, a quarter of them restarted. It returns the namespace. All ages are in one bucket for hours.
func Rollout(ctx context.Context, plane *control.Plane, h *history.History, size int32) string {
	b := &builder{plane, h, rand.New(rand.NewPCG(1, 1)), plane.CreateNamespace(ctx, "rollout-"), style{}}
	b.replicaSet(ctx, "web", map[string]string{"app": "web"}, size)
	b.settled(ctx)
	began := time.Now().Add(-28 * time.Hour) // between 2^46 and 2^47 ns
	for i, pod := range h.Active(b.namespace) {
		ready := began.Add(time.Duration(b.r.IntN(4)) * time.Second)
		made := metav1.NewTime(ready.Add(-5 * time.Second))
		f := facts{node: nodeName(i % Nodes), phase: corev1.PodRunning, restarts: []int32{0, 0}, created: &made,
			conditions: isReady(true, ready)}
		if i%4 == 0 {
			f.restarts[0] = int32(1 + b.r.IntN(3))
		}
		b.give(ctx, pod, f)
	}
	b.settled(ctx)
	return b.namespace
}
