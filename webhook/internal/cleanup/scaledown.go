package cleanup

import (
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podrank/podrank/webhook/internal/cost"
	"github.com/podrank/podrank/webhook/internal/workload"
)

// Why a pod is kept. These are the reasons of metrics.
const (
	notFallen = "NotScaledDown"
	risen     = "ScaledUpAgain"
	overruled = "CostChanged"
	stopped   = "SteeringStopped"
	outrun    = "OtherPodsDeleted"
)

// tracked is a pod that was annotated for a scale-down whose end has not been reported, or that still has the
// annotation.
type tracked struct {
	pod     cost.Pod
	steered cost.Steered
	// cost is the value of the cost when the annotation was first seen, at since.
	cost  string
	since time.Time
	// isThere is whether the pod exists and is not being deleted, and isShown whether the cache has it with its annotation.
	isThere, isShown bool
	// hasFallen is whether the replica count was at most that of the scale-down.
	hasFallen bool
	// ended is when the scale-down was over, isLogged whether the log has its end, and isTold whether all the rest has it, too.
	ended            time.Time
	isLogged, isTold bool
	// fate is what became of the pod if it is kept, once that was read.
	fate *cost.Fate
	// removed is when the cost was removed, and gone is when the pod disappeared.
	removed, gone time.Time
}

// pods are those of a set, by UID.
type pods map[types.UID]*tracked

// see notes the set's pods as the cache has them, and those that were deleted before anybody saw their annotations.
func (p pods) see(set types.UID, cached, deleted []metav1.PartialObjectMetadata, now time.Time) {
	for _, pod := range p {
		if pod.isShown {
			pod.gone = now
		}
		pod.isThere, pod.isShown = false, false
	}
	for i, pod := range slices.Concat(deleted, cached) {
		steered, isSteered := cost.Cached(&pod)
		known := p[pod.UID]
		if isSteered && (known == nil || known.steered != steered) {
			// If the pod has another owner now, or no set, its cost is removed, and no end is reported.
			known = &tracked{
				pod: cost.PodOf(&pod), steered: steered, cost: pod.Annotations[corev1.PodDeletionCost], since: now, gone: now,
				isTold: steered.Set != set,
			}
			p[pod.UID] = known
		}
		if known != nil && i >= len(deleted) {
			known.isThere, known.isShown = pod.DeletionTimestamp == nil, isSteered
		}
	}
	maps.DeleteFunc(p, func(_ types.UID, pod *tracked) bool { return pod.isTold && !pod.isShown })
}

// forget forgets deleted pods after some time. By then, the leader has reported their end, or there is another leader.
func (p pods) forget(now time.Time) {
	maps.DeleteFunc(p, func(_ types.UID, pod *tracked) bool { return !pod.isShown && now.Sub(pod.gone) > remembers })
}

// isLeft reports whether nothing is left to do for these pods. Of those that are being deleted, the cache will tell.
func (p pods) isLeft() bool {
	for _, pod := range p {
		if !pod.isTold || pod.isThere && pod.isShown {
			return false
		}
	}
	return true
}

// A scaleDown is one that is over, with the reason for which its pods are kept. A pod belongs to the last one that annotated it.
type scaleDown struct {
	why  string
	pods []*tracked
}

// ended returns the scale-downs that have ended and are not reported, and when to check again. The set is nil if it was
// deleted.
func (p pods) ended(set *workload.Set, now time.Time, patience time.Duration) (ended []scaleDown, wait time.Duration) {
	// Any other scale-down to the same count follows a change of the set's spec.
	falls := map[cost.Steered][]*tracked{}
	for _, pod := range p {
		if is := (cost.Steered{Count: pod.steered.Count, Generation: pod.steered.Generation}); !pod.isTold {
			falls[is] = append(falls[is], pod)
		}
	}
	wait = again
	for is, pods := range falls {
		isThere, hasFallen, left := false, set != nil && set.Replicas <= is.Count, time.Duration(0)
		for _, pod := range pods {
			isThere, hasFallen, left = isThere || pod.isThere, hasFallen || pod.hasFallen, max(left, patience-now.Sub(pod.since))
		}
		for _, pod := range pods {
			pod.hasFallen = hasFallen
		}
		why := outrun
		switch {
		case !isThere:
		case set == nil:
			// Its pods follow, or lose their owner.
			continue
		case !hasFallen && left > 0:
			wait = min(wait, left)
			continue
		case hasFallen && set.Replicas > is.Count:
			why = risen
		case !set.IsOver:
			// Perhaps an earlier scale-down continues, and its pods are among these.
			continue
		case !hasFallen:
			why = notFallen
		}
		ended = append(ended, scaleDown{why, pods})
	}
	return ended, wait
}
