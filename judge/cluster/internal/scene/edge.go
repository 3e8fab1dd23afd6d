package scene

import (
	"context"
	"time"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podrank/podrank/judge/cluster/internal/must"
)

// OfEdges are the kinds of rounds in which the age of half of the pods reaches a power of two at about the time at
// which the controller decides. Before that, these pods are deleted first, because they are younger. Afterwards,
// another rule decides.
var OfEdges = []string{
	"ready edge",    // those that became ready later; afterwards, the others restarted more often
	"creation edge", // those that were created later; afterwards, the UIDs decide
}

// edge makes a ReplicaSet for such a round. As many pods go as reach the edge.
func (b *builder) edge(ctx context.Context, kind string) *Scene {
	began, young := time.Now(), 4+b.r.IntN(7)
	pods := b.owned(ctx, int32(2*young))

	// From 69 s to 19 h. Times are whole seconds. Until the edge, the pods get their facts, which takes longer on a busy machine.
	bucket := time.Duration(1) << (36 + b.r.IntN(11))
	preparing := 4*time.Second + 4*time.Since(began)
	since := time.Now().Add(preparing - bucket).Truncate(time.Second)
	long := since.Add(-time.Duration(5+b.r.IntN(40)) * time.Second)
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(8)
	for i, pod := range pods {
		ready, created, restarts := since, since.Add(-bucket*3/2), int32(0)
		if i >= young {
			ready, restarts = long, int32(1+b.r.IntN(3))
		}
		if kind == "creation edge" {
			ready, created, restarts = long, ready, 0
		}
		f := facts{
			node: nodeName(i % 2), phase: corev1.PodRunning, restarts: []int32{restarts, 0}, created: &metav1.Time{Time: created},
			conditions: isReady(true, ready),
		}
		group.Go(func() error { return must.Try(func() { b.give(ctx, pod, f) }) })
	}
	must.Do(group.Wait())
	s := b.scaleSet("rs/a", "replicasets", int32(young))
	early := time.Duration(b.r.IntN(60)) * time.Millisecond
	s.Await = func(context.Context) { time.Sleep(time.Until(since.Add(bucket - early))) }
	return s
}
