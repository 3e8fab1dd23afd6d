package verdict

import (
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/podrank/podrank/judge/cluster/internal/preview"
)

// AskOfDeployment is the preview of a whole Deployment at a moment.
type AskOfDeployment func(now time.Time) (*preview.Step, error)

// JudgeDeployment says what contradicts the preview of a Deployment's next sync, or returns the preview that agrees.
//
// If the sync is the only one, every pod is judged: each set's count must become what the preview says, in one step, and
// of its pods those must go that it says. If more syncs follow, each set's first count is judged, and that every pod
// went that was certain to. The moment of the decision is not known, so the preview is right if it holds for one that is
// possible.
func JudgeDeployment(run *Run, ask AskOfDeployment) (*preview.Step, error) {
	last := run.Began
	for _, gone := range run.Gone {
		if gone.At.After(last) {
			last = gone.At
		}
	}
	var first error
	for _, now := range run.Dump.Moments(run.Began, last.Add(time.Nanosecond)) {
		step, err := ask(now)
		if err != nil {
			return nil, err
		}
		if err = compareStep(run, step); err == nil {
			return step, nil
		}
		if first == nil {
			first = fmt.Errorf("at %s: %w", now.UTC().Format(time.RFC3339Nano), err)
		}
	}
	return nil, first
}

func compareStep(run *Run, step *preview.Step) error {
	sets, owners := map[string]types.UID{}, map[types.UID]types.UID{}
	for _, object := range run.Dump.Items {
		switch {
		case object.Kind == "ReplicaSet":
			sets[object.Metadata.Name] = object.Metadata.UID
		case object.IsActivePod():
			owners[object.Metadata.UID] = object.Owner()
		}
	}
	lost := map[types.UID][]types.UID{}
	for _, gone := range run.Gone {
		if owner, known := owners[gone.UID]; known {
			lost[owner] = append(lost[owner], gone.UID)
		}
	}
	judged := map[types.UID]bool{}
	for _, set := range step.Sets {
		if set.ReplicaSet == nil {
			continue
		}
		uid, known := sets[*set.ReplicaSet]
		if !known {
			return fmt.Errorf("the preview shows %s, which does not exist", *set.ReplicaSet)
		}
		judged[uid] = true
		if err := compareSet(set, step.IsLast(), run.Counts[uid], lost[uid]); err != nil {
			return fmt.Errorf("%s from %d to %d: %w", *set.ReplicaSet, set.From, set.To, err)
		}
	}
	for name, uid := range sets {
		if step.IsLast() && !judged[uid] && (len(run.Counts[uid]) > 0 || len(lost[uid]) > 0) {
			return fmt.Errorf("%s changed, and the preview does not show it", name)
		}
	}
	return nil
}

// compareSet holds one set's step against the counts that it got and the pods that it lost.
func compareSet(set *preview.StepOfSet, isOnly bool, counts []int32, lost []types.UID) error {
	if isOnly {
		if !slices.Equal(counts, set.Writes) {
			return fmt.Errorf("its counts became %d", counts)
		}
		return Compare(&set.Prediction, max(int(set.From-set.To), 0), lost)
	}
	if first := min(len(set.Writes), len(counts)); !slices.Equal(counts[:first], set.Writes) {
		return fmt.Errorf("its counts became %d", counts)
	}
	for _, pod := range set.Pods {
		if pod.Verdict == "delete" && !slices.Contains(lost, pod.UID) {
			return fmt.Errorf("%s is certain to go, and stayed", pod.Name)
		}
	}
	return nil
}
