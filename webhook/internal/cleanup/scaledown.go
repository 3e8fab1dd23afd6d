package cleanup

import (
	"errors"
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podrank/podrank/webhook/internal/bounded"
	"github.com/podrank/podrank/webhook/internal/cost"
	"github.com/podrank/podrank/webhook/internal/report"
	"github.com/podrank/podrank/webhook/internal/workload"
)

// scaleDown is what is known of a set that is steered: by their UIDs, the pods of scale-downs whose end is not told yet, and those of which it was, and
// whose costs have yet to come off.
type scaleDown map[types.UID]*tracked

// see notes the set's pods as the cache has them.
func (s scaleDown) see(set types.UID, all []metav1.PartialObjectMetadata, now time.Time) {
	here, going := map[types.UID]bool{}, map[types.UID]bool{}
	for i := range all {
		pod := &all[i]
		known := s[pod.UID]
		mark, isMarked := cost.Cached(pod)
		value := pod.Annotations[corev1.PodDeletionCost]
		if pod.DeletionTimestamp != nil {
			going[pod.UID] = true
			if known == nil && isMarked && mark.Set == set {
				// It was deleted before anybody here saw its mark.
				s[pod.UID] = &tracked{pod: cost.PodOf(pod), mark: mark, cost: value, state: written, since: now}
			}
			continue
		}
		here[pod.UID] = true
		switch {
		case !isMarked && known != nil:
			known.misses(now)
		case !isMarked:
		case known != nil && known.mark == mark && known.isShown():
			known.sees(value, now)
		default:
			// New, or planned anew.
			known = &tracked{pod: cost.PodOf(pod), mark: mark, cost: value, state: written, since: now, isTold: set == ""}
			s[pod.UID] = known
			if mark.Set != set {
				// The pod has changed hands since, or has no set.
				known.ends(cost.Fate{}, notFallen, now)
			}
		}
	}
	for uid, pod := range s {
		if pod.isGoing = going[uid]; !here[uid] {
			pod.on(vanished, now)
		}
	}
	maps.DeleteFunc(s, func(_ types.UID, pod *tracked) bool { return pod.isForgotten() })
}

// follow is see on a replica that does not lead. It forgets pods after some time: by then, the leader has told their end, or there is another leader.
func (s scaleDown) follow(set types.UID, all []metav1.PartialObjectMetadata, now time.Time) {
	s.see(set, all, now)
	maps.DeleteFunc(s, func(_ types.UID, pod *tracked) bool {
		if pod.state == planned {
			// It was the leader that removed the mark, because the scale-down is over.
			pod.why = ""
		}
		return !pod.isShown() && now.Sub(pod.since) > remembers
	})
}

// open returns the scale-downs whose end is not told.
func (s scaleDown) open() map[fall]bool {
	open := map[fall]bool{}
	for _, pod := range s {
		if !pod.isTold {
			open[fallOf(pod.mark)] = true
		}
	}
	return open
}

// judge decides what became of the pods, and returns when to look again. The caches of sets and pods do not lag alike, so a pod
// that seems to stay is read once more.
func (s scaleDown) judge(
	set *workload.Set, now time.Time, patience time.Duration, fatesOf func([]cost.Pod) ([]cost.Fate, []error),
) (time.Duration, error) {
	wait := again
	var ending []*tracked
	var reasons []string
	var reads []cost.Pod
	for _, pod := range s {
		if !pod.isUnderWay() {
			continue
		}
		if set.Replicas <= pod.mark.Count {
			pod.on(fell, now)
		}
		left := patience - now.Sub(pod.since)
		why := ""
		switch {
		case !pod.hasFallen() && left > 0:
			wait = min(wait, left)
		case !pod.hasFallen() && !set.IsOver():
			// An earlier fall goes on, and its pods may be among these.
		case !pod.hasFallen():
			why = notFallen
		case set.Replicas > pod.mark.Count:
			why = risen
		case set.IsOver():
			why = outrun
		}
		if why == "" {
			continue
		}
		if len(ending) == bounded.CleanupPods {
			wait = soon
			break
		}
		ending, reasons, reads = append(ending, pod), append(reasons, why), append(reads, pod.pod)
	}
	fates, errs := fatesOf(reads)
	for i, pod := range ending {
		if errs[i] == nil {
			pod.ends(fates[i], reasons[i], now)
		}
	}
	return wait, errors.Join(errs...)
}

// fall identifies a scale-down of a set: any other one to the same count follows a change of the set's spec.
type fall struct {
	to         int32
	generation int64
}

func fallOf(mark cost.Mark) fall { return fall{mark.Count, mark.Generation} }

// over returns how scale-downs ended, each once, and forgets their pods, but for those whose cost the cache still shows. Two falls in quick
// succession are two scale-downs, and a pod belongs to the one that wrote its cost.
func (s scaleDown) over() []*report.Over {
	goesOn, ended := map[fall]bool{}, map[fall]*report.Over{}
	for _, pod := range s {
		goesOn[fallOf(pod.mark)] = goesOn[fallOf(pod.mark)] || pod.isUnderWay()
	}
	for uid, pod := range s {
		is := fallOf(pod.mark)
		if goesOn[is] || pod.isTold {
			continue
		}
		if pod.mark.Goes {
			if ended[is] == nil {
				ended[is] = &report.Over{
					Generation: is.generation, From: pod.mark.From, To: is.to, First: time.UnixMilli(pod.mark.First), Missed: map[string][]string{},
				}
			}
			if pod.hasGone() {
				ended[is].Gone++
			} else {
				ended[is].Miss(pod.why, pod.pod.Key.Name, pod.writer)
			}
		}
		if pod.isTold = true; pod.isForgotten() {
			delete(s, uid)
		}
	}
	return slices.Collect(maps.Values(ended))
}

// isLeft reports whether nothing is left to do but for pods whose costs nobody could take off. Of those that are going, the cache will tell.
func (s scaleDown) isLeft() bool {
	for _, pod := range s {
		if !pod.isTold || pod.state != left && (pod.isShown() || !pod.isGoing) {
			return false
		}
	}
	return true
}
