package steer

import (
	"context"
	"maps"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/podrank/podrank/webhook/internal/decide"
	"github.com/podrank/podrank/webhook/internal/workload"
)

// A set is read again after firstPause, and then after twice as long each time, up to lastPause, until its controller has done its work.
const (
	firstPause = time.Second / 2
	lastPause  = 4 * time.Second
)

// Why a prediction cannot be compared. These are the reasons of metrics.
const (
	NotFallen = "CountDidNotFall"
	Changed   = "CountChangedAgain"
	// PodsChanged: other pods came, went or changed meanwhile, such as the new ones of a rollout, whose nodes count.
	PodsChanged = "PodsChanged"
	Deleted     = "SetDeleted"
	Unread      = "CannotBeRead"
	// Unpredicted: podrank returned an error.
	Unpredicted = "CannotBePredicted"
)

// A Comparison is what came of a prediction.
type Comparison struct {
	// Without is why nothing could be compared, or "".
	Without string
	// Gone are the pods that went.
	Gone []decide.Name
	// Wrong says what was predicted wrongly, pod by pod.
	Wrong []string
}

// Compare waits until a scale-down that nobody steered is over, or the context ends, and finds out which pods went and whether that was
// predicted. It only reads.
func (s *Steerer) Compare(ctx context.Context, o *Outcome) Comparison {
	for wait := firstPause; ; wait = min(2*wait, lastPause) {
		set, err := s.Set(ctx, o.Kind, o.Key)
		switch {
		case apierrors.IsNotFound(err) || err == nil && set.UID() != o.Set.UID():
			return Comparison{Without: Deleted}
		case err != nil && ctx.Err() == nil:
			return Comparison{Without: Unread}
		case err == nil && set.Replicas != o.To && set.Replicas != o.From:
			return Comparison{Without: Changed}
		case err == nil && set.Replicas == o.To && set.IsOver():
			return s.compare(ctx, set, o)
		}
		select {
		case <-ctx.Done():
			return Comparison{Without: NotFallen}
		case <-time.After(wait):
		}
	}
}

func (s *Steerer) compare(ctx context.Context, set *workload.Set, o *Outcome) Comparison {
	now, err := s.States(ctx, set)
	if err != nil {
		return Comparison{Without: Unread}
	}
	then := maps.Clone(o.States)
	var c Comparison
	for _, pod := range o.Active {
		if _, stays := now[pod.UID]; !stays {
			c.Gone = append(c.Gone, pod)
			delete(then, pod.UID)
		}
	}
	if len(c.Gone) != o.Prediction.Delete || !maps.Equal(now, then) {
		return Comparison{Without: PodsChanged}
	}
	c.Wrong = o.Prediction.Wrong(c.Gone)
	return c
}
