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
// whose costs have yet to be removed.
type scaleDown map[types.UID]*tracked

// see notes the set's pods as the cache has them.
func (s scaleDown) see(set types.UID, all []metav1.PartialObjectMetadata, now time.Time) {
	here, deleting := map[types.UID]bool{}, map[types.UID]bool{}
	for i := range all {
		pod := &all[i]
		known := s[pod.UID]
		steered, isSteered := cost.Cached(pod)
		value := pod.Annotations[corev1.PodDeletionCost]
		if pod.DeletionTimestamp != nil {
			deleting[pod.UID] = true
			if known == nil && isSteered && steered.Set == set {
				// It was deleted before anybody here saw its annotation.
				s[pod.UID] = &tracked{pod: cost.PodOf(pod), steered: steered, cost: value, state: written, since: now}
			}
			continue
		}
		here[pod.UID] = true
		switch {
		case !isSteered && known != nil:
			known.misses(now)
		case !isSteered:
		case known != nil && known.steered == steered && known.isShown():
			known.sees(value, now)
		default:
			// New, or planned again.
			known = &tracked{pod: cost.PodOf(pod), steered: steered, cost: value, state: written, since: now, isTold: set == ""}
			s[pod.UID] = known
			if steered.Set != set {
				// The pod has changed hands since, or has no set.
				known.ends(cost.Fate{}, notFallen, now)
			}
		}
	}
	for uid, pod := range s {
		if pod.isDeleting = deleting[uid]; !here[uid] {
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
			// It was the leader that removed the annotation, because the scale-down is over.
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
			open[fallOf(pod.steered)] = true
		}
	}
	return open
}

// judge decides what became of the pods, and returns when to look again. The caches of sets and pods do not lag alike, so a pod
// that seems to be kept is read once more.
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
		if set.Replicas <= pod.steered.Count {
			pod.on(fell, now)
		}
		abandoned := patience - now.Sub(pod.since)
		why := ""
		switch {
		case !pod.hasFallen() && abandoned > 0:
			wait = min(wait, abandoned)
		case !pod.hasFallen() && !set.IsOver():
			// An earlier fall continues, and its pods may be among these.
		case !pod.hasFallen():
			why = notFallen
		case set.Replicas > pod.steered.Count:
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

func fallOf(steered cost.Steered) fall { return fall{steered.Count, steered.Generation} }

// over returns how scale-downs ended, each once, and forgets their pods, but for those whose cost the cache still shows. Two falls in quick
// succession are two scale-downs, and a pod belongs to the one that wrote its cost.
func (s scaleDown) over() []*report.Over {
	isOpen, ended := map[fall]bool{}, map[fall]*report.Over{}
	for _, pod := range s {
		isOpen[fallOf(pod.steered)] = isOpen[fallOf(pod.steered)] || pod.isUnderWay()
	}
	for uid, pod := range s {
		is := fallOf(pod.steered)
		if isOpen[is] || pod.isTold {
			continue
		}
		if pod.steered.Selected {
			if ended[is] == nil {
				ended[is] = &report.Over{
					Generation: is.generation, From: pod.steered.From, To: is.to, First: time.UnixMilli(pod.steered.First), Missed: map[string][]string{},
				}
			}
			if pod.isDeleted() {
				ended[is].Deleted++
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

// isLeft reports whether nothing is left to do but for pods whose costs nobody could remove. Of those that are being deleted, the cache will tell.
func (s scaleDown) isLeft() bool {
	for _, pod := range s {
		if !pod.isTold || pod.state != abandoned && (pod.isShown() || !pod.isDeleting) {
			return false
		}
	}
	return true
}
