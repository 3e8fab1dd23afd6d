// Package verdict compares what the controllers did with what the preview predicts. It is pure: callers pass the preview as
// a function.
package verdict

import (
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/podrank/podrank/judge/cluster/internal/preview"
)

// Gone is a pod that a controller took.
type Gone struct {
	UID  types.UID
	Name string
	At   time.Time // when it was known
}

// Run is one round as it happened.
type Run struct {
	Namespace string
	Dump      *preview.Dump         // as all was before
	Began     time.Time             // when the controllers were given a reason
	Gone      []Gone                // in order
	Counts    map[types.UID][]int32 // what each set's count became, in order; sets that kept theirs are missing
	Live      error                 // why the preview of the cluster was not that of the dump
}

// Set is the outcome for one set that lost pods.
type Set struct {
	Name       string // rs/NAME or rc/NAME
	From, To   int32
	Now        time.Time // a moment at which the prediction holds
	Prediction *preview.Prediction
	Gone       []types.UID
	Moments    int  // how many moments had to be told apart
	Others     bool // whether other sets of the namespace lost pods as well
	Steps      int  // in how many the count fell
	Asked      int  // how many questions it took to explain what went
	Unjudged   bool // it grew before it shrank, so that some of what went was not in the dump
}

// IsPlain says that the prediction rests on the dump alone, and that nothing was left open: neither the moment nor the
// steps, and no other set lost pods meanwhile.
func (s *Set) IsPlain() bool { return !s.Others && !s.Unjudged && s.Moments == 1 && s.Steps == 1 }

// Ask is the preview, by the order that the controllers decide by.
type Ask func(*preview.Question) (*preview.Prediction, error)

// Judge returns the outcome for each set that lost pods, or what contradicts the preview.
//
// What the controllers did is known but for a few things that no watch shows, and each of them has few possible
// values: the moment of a decision, between the trigger and the first news; which pods of other sets had gone by then, some
// first part of those that went; and which of the counts that followed each other the controller saw. The preview is
// right if its answer holds for one of the possible values.
func Judge(run *Run, ask Ask) ([]Set, error) {
	var outcomes []Set
	left := map[types.UID]bool{}
	for _, gone := range run.Gone {
		left[gone.UID] = true
	}
	for i := range run.Dump.Items {
		set := &run.Dump.Items[i]
		short := map[string]string{"ReplicaSet": "rs/", "ReplicationController": "rc/"}[set.Kind]
		if short == "" {
			continue
		}
		j := judge{run: run, ask: ask, set: set, name: short + set.Metadata.Name}
		outcome, err := j.judge(left)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", j.name, err)
		}
		if outcome != nil {
			outcomes = append(outcomes, *outcome)
		}
	}
	for _, gone := range run.Gone {
		if left[gone.UID] {
			return nil, fmt.Errorf("%s went, and no set's count says so", gone.Name)
		}
	}
	return outcomes, nil
}

type judge struct {
	run          *Run
	ask          Ask
	set          *preview.Object
	name         string
	mine, others []Gone
	asked        int
}

// judge takes the pods that this set lost out of left.
func (j *judge) judge(left map[types.UID]bool) (*Set, error) {
	owners := map[types.UID]types.UID{}
	for _, object := range j.run.Dump.Items {
		if object.IsActivePod() {
			owners[object.Metadata.UID] = object.Owner()
		}
	}
	for _, gone := range j.run.Gone {
		switch owner, known := owners[gone.UID]; {
		case !known: // made later
			left[gone.UID] = false
		case owner == j.set.Metadata.UID:
			left[gone.UID] = false
			j.mine = append(j.mine, gone)
		default:
			j.others = append(j.others, gone)
		}
	}

	counts, unjudged := []int32{*j.set.Spec.Replicas}, false
	for i, count := range j.run.Counts[j.set.Metadata.UID] {
		if count > counts[len(counts)-1] {
			for _, later := range j.run.Counts[j.set.Metadata.UID][i:] {
				unjudged = unjudged || later < count
			}
			break
		}
		counts = append(counts, count)
	}
	from, to := counts[0], counts[len(counts)-1]
	lost := int(from - to)
	if len(j.mine) < lost || len(j.mine) > lost && !unjudged {
		return nil, fmt.Errorf("its count went from %d to %d, and %d pods went", from, to, len(j.mine))
	}
	if lost == 0 {
		return nil, nil
	}
	outcome, err := j.path(counts, 0)
	if err != nil {
		return nil, err
	}
	outcome.Name, outcome.From, outcome.To, outcome.Asked = j.name, from, to, j.asked
	outcome.Others, outcome.Steps, outcome.Unjudged = len(j.others) > 0, len(counts)-1, unjudged
	for _, gone := range j.mine[:lost] {
		outcome.Gone = append(outcome.Gone, gone.UID)
	}
	return outcome, nil
}

// path finds steps from counts[at] to the last, some of those between perhaps left out, each of which the preview explains.
// It returns the first.
func (j *judge) path(counts []int32, at int) (*Set, error) {
	var first error
	for next := len(counts) - 1; next > at; next-- { // one step is the rule
		outcome, err := j.step(counts[0], counts[at], counts[next])
		if err == nil && next < len(counts)-1 {
			_, err = j.path(counts, next)
		}
		if err == nil {
			return outcome, nil
		}
		if first == nil {
			first = err
		}
	}
	return nil, first
}

// step explains that the set, which had `start` pods at first, went from one count to another.
func (j *judge) step(start, from, to int32) (*Set, error) {
	before, victims := j.mine[:start-from], j.mine[start-from:start-to]
	moments := j.run.Dump.Moments(j.run.Began, victims[len(victims)-1].At)
	var first error
	for seen := range len(j.others) + 1 {
		dump := j.run.Dump.Without(append(uids(before), uids(j.others[:seen])...))
		for _, now := range moments {
			question := &preview.Question{Dump: dump, Namespace: j.run.Namespace, Set: j.name, Replicas: to, Now: now}
			j.asked++
			prediction, err := j.ask(question)
			if err == nil {
				err = Compare(prediction, int(from-to), uids(victims))
			}
			if err == nil {
				return &Set{Now: now, Prediction: prediction, Moments: len(moments)}, nil
			}
			if first == nil {
				first = fmt.Errorf("from %d to %d, at %s: %w", from, to, now.UTC().Format(time.RFC3339Nano), err)
			}
		}
	}
	return nil, first
}

// Compare says what is wrong with a prediction, given what went: every pod that is certain to go must be among them, none
// that is safe, and so many that the number of contested ones is as predicted.
func Compare(prediction *preview.Prediction, count int, gone []types.UID) error {
	if prediction.Delete != count || len(gone) != count {
		return fmt.Errorf("%d pods should go, the preview says %d, and %d went", count, prediction.Delete, len(gone))
	}
	known := map[types.UID]bool{}
	for _, pod := range prediction.Pods {
		known[pod.UID] = true
		switch went := slices.Contains(gone, pod.UID); {
		case pod.Verdict == "delete" && !went:
			return fmt.Errorf("%s is certain to go, and stayed", pod.Name)
		case pod.Verdict == "keep" && went:
			return fmt.Errorf("%s is safe, and went", pod.Name)
		case !slices.Contains([]string{"delete", "contested", "keep"}, pod.Verdict):
			return fmt.Errorf("%s has the verdict %q", pod.Name, pod.Verdict)
		}
	}
	for _, uid := range gone {
		if !known[uid] {
			return fmt.Errorf("the pod with the UID %s went, and the preview does not list it", uid)
		}
	}
	return nil
}

func uids(gone []Gone) []types.UID {
	uids := make([]types.UID, 0, len(gone))
	for _, gone := range gone {
		uids = append(uids, gone.UID)
	}
	return uids
}
