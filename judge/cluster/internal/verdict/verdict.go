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

// Gone is a pod that a controller deleted.
type Gone struct {
	UID  types.UID
	Name string
	At   time.Time // when it was known
}

// Run is one round as it happened: a set was given another count.
type Run struct {
	Namespace string
	Dump      *preview.Dump // as all was before
	Set       string        // rs/NAME or rc/NAME
	Replicas  int32         // the new count
	Began     time.Time     // when it was written
	Gone      []Gone        // in order
}

// Outcome is what the set lost, and the prediction that holds.
type Outcome struct {
	Now        time.Time // a time at which the prediction holds
	Prediction *preview.Prediction
	Gone       []types.UID
	Moments    int // how many times with different ages there are
	Asked      int // how many questions it took to explain the deletions
}

// Ask is the preview, by the order that the controllers decide by.
type Ask func(*preview.Question) (*preview.Prediction, error)

// Judge returns the outcome, or what contradicts the preview.
//
// No watch shows the time of the decision, which is between the trigger and the first event. The preview is right if
// its answer holds for one of the possible times.
func Judge(run *Run, ask Ask) (*Outcome, error) {
	var set *preview.Object
	owners := map[types.UID]types.UID{}
	for i := range run.Dump.Items {
		switch object := &run.Dump.Items[i]; {
		case object.IsActivePod():
			owners[object.Metadata.UID] = object.Owner()
		case run.Set == map[string]string{"ReplicaSet": "rs/", "ReplicationController": "rc/"}[object.Kind]+object.Metadata.Name:
			set = object
		}
	}
	o, last := &Outcome{}, run.Began
	for _, gone := range run.Gone {
		switch owner, known := owners[gone.UID]; {
		case !known: // made later
		case owner != set.Metadata.UID:
			return nil, fmt.Errorf("%s was deleted, but is not a pod of %s", gone.Name, run.Set)
		default:
			o.Gone, last = append(o.Gone, gone.UID), gone.At
		}
	}
	moments := run.Dump.Moments(run.Began, last)
	o.Moments = len(moments)
	var first error
	for _, o.Now = range moments {
		o.Asked++
		var err error
		o.Prediction, err = ask(&preview.Question{Dump: run.Dump, Namespace: run.Namespace, Set: run.Set, Replicas: run.Replicas, Now: o.Now})
		if err == nil {
			err = Compare(o.Prediction, int(*set.Spec.Replicas-run.Replicas), o.Gone)
		}
		if err == nil {
			return o, nil
		}
		if first == nil {
			first = fmt.Errorf("%s to %d, at %s: %w", run.Set, run.Replicas, o.Now.UTC().Format(time.RFC3339Nano), err)
		}
	}
	return nil, first
}

// Compare returns an error if a prediction does not fit the deleted pods. Every certain pod must be among them and no
// safe one, and the number of possible ones must be as predicted.
func Compare(prediction *preview.Prediction, count int, gone []types.UID) error {
	if deletions := int(prediction.Deletions.Max); deletions != count || len(gone) != count {
		return fmt.Errorf("%d pods should go, the preview says %d, and %d went", count, deletions, len(gone))
	}
	known := map[types.UID]bool{}
	for _, pod := range prediction.Pods() {
		known[pod.UID] = true
		switch went := slices.Contains(gone, pod.UID); {
		case pod.Verdict == "deleted" && !went:
			return fmt.Errorf("%s is certain to go, and stayed", pod.Name)
		case pod.Verdict == "kept" && went:
			return fmt.Errorf("%s is safe, and went", pod.Name)
		case !slices.Contains([]string{"deleted", "possible", "kept"}, pod.Verdict):
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
