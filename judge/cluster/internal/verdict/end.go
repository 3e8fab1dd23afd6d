package verdict

import (
	"fmt"

	"k8s.io/apimachinery/pkg/types"

	"github.com/podrank/podrank/judge/cluster/internal/preview"
)

// Arrival is where the controllers came to rest.
type Arrival struct {
	Before map[types.UID]bool // the active pods before, and whether each was deleted
	Sizes  map[string]int32   // of the sets that were there before, by name
	Others int32              // the sizes of all others
}

// JudgeEnd says what contradicts the preview of where a Deployment's syncs lead.
func JudgeEnd(end *preview.End, arrival *Arrival) error {
	if end.Deletions == nil {
		return fmt.Errorf("the preview shows no end")
	}
	listed := map[string]bool{}
	for _, set := range end.Groups {
		size := arrival.Others
		name := "a new set"
		if set.ReplicaSet != nil {
			name, size = *set.ReplicaSet, arrival.Sizes[*set.ReplicaSet]
			listed[name] = true
		} else {
			listed["a new set"] = true
		}
		if !set.ReplicasAtEnd.Has(int(size)) {
			return fmt.Errorf("%s ends at %d, and the preview says %+v", name, size, set.ReplicasAtEnd)
		}
	}
	for name, size := range arrival.Sizes {
		if size > 0 && !listed[name] {
			return fmt.Errorf("%s ends at %d, and the preview does not show it", name, size)
		}
	}
	if arrival.Others > 0 && !listed["a new set"] {
		return fmt.Errorf("a new set ends at %d, and the preview does not show it", arrival.Others)
	}
	went, known := 0, map[types.UID]bool{}
	for _, set := range end.Groups {
		for _, pod := range set.Pods {
			known[pod.UID] = true
			switch gone := arrival.Before[pod.UID]; {
			case pod.Verdict == "deleted" && !gone:
				return fmt.Errorf("%s is certain to go, and stayed", pod.Name)
			case (pod.Verdict == "kept" || pod.Verdict == "waiting") && gone:
				return fmt.Errorf("%s has the verdict %s, and went", pod.Name, pod.Verdict)
			}
		}
	}
	for uid, gone := range arrival.Before {
		if gone {
			went++
		}
		if gone && !known[uid] {
			return fmt.Errorf("the pod with the UID %s went, and the preview does not list it", uid)
		}
	}
	if !end.Deletions.Has(went) {
		return fmt.Errorf("%d pods went, and the preview says %+v", went, *end.Deletions)
	}
	return nil
}
