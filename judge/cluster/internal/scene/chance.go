package scene

import (
	"context"
	"slices"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podrank/podrank/judge/cluster/internal/must"
)

// OfChance are the kinds of rounds in which chance decides: a ReplicaSet, half of the time with up to 8 pods, whose pods became ready
// within a few seconds and some minutes ago, as in one rollout.
var OfChance = []string{
	"in turn", // the pods became ready in the order in which they were created, as on a real node
	"at random",
}

// chance makes such a set, and gives its pods their facts. No age reaches another bucket while a round is played.
func (b *builder) chance(ctx context.Context, kind string) *Scene {
	size := int32(2 + b.r.IntN(7))
	if b.r.IntN(2) == 0 {
		size = int32(9 + b.r.IntN(52))
	}
	pods := b.owned(ctx, size)
	if kind == "in turn" {
		// The versions are those of the creations, as nothing has happened to the pods since.
		created := func(pod *corev1.Pod) int { return must.Get(strconv.Atoi(pod.ResourceVersion)) }
		slices.SortFunc(pods, func(x, y *corev1.Pod) int { return created(x) - created(y) })
	}

	// Ages from 2^39 to 2^40 ns are 550 to 1,100 s.
	base := time.Now().Truncate(time.Second).Add(-time.Duration(600+b.r.IntN(400)) * time.Second)
	seconds, nodes, restart := 1+b.r.IntN(6), pick(b.r, 1, 1, 2, 3), pick(b.r, 0, 0, 0.1, 0.3)
	late, same := pick(b.r, 0, 0, 0.05), b.r.IntN(2) == 0
	for i, pod := range pods {
		after := time.Duration(i*seconds/len(pods)) * time.Second
		if kind == "at random" {
			after = time.Duration(b.r.IntN(seconds)) * time.Second
		}
		createdAt := base.Add(-5 * time.Second)
		if !same {
			createdAt = createdAt.Add(after)
		}
		f := facts{node: nodeName(b.r.IntN(nodes)), phase: corev1.PodRunning, conditions: isReady(b.r.Float64() >= late, base.Add(after)),
			restarts: []int32{0, 0}, created: &metav1.Time{Time: createdAt}}
		if b.r.Float64() < restart {
			f.restarts[0] = int32(1 + b.r.IntN(2))
		}
		b.give(ctx, pod, f)
	}
	b.settled(ctx)
	return b.scaleSet("rs/a", "replicasets", 1+int32(b.r.IntN(int(size-1))))
}
