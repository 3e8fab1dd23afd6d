package steer

import (
	"context"
	"maps"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	logf "sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/podrank/podrank/webhook/internal/decide"
	"github.com/podrank/podrank/webhook/internal/workload"
)

// An Observation is a scale-down that nobody steers, from its answer until it is compared.
type Observation struct {
	// Active are the set's active pods by their names alone, and Prediction says which of them go.
	Active     decide.Names
	Prediction *decide.Prediction
	// States are what the prediction was made from.
	States decide.States
	// pods are what it is made from. When it is made, they are forgotten, but still count.
	pods *pods
}

// observe reads what a prediction needs.
func (f *fall) observe(ctx context.Context) (Result, error) {
	all, err := f.by.list(ctx, f.by.Live, &f.by.Limits.toPredict, f.Set, nil)
	if err != nil {
		return Failed, err
	}
	f.Observation = &Observation{pods: all}
	if len(all.active) <= int(f.To) {
		all.forget()
		return NothingToDo, nil
	}
	return Observed, nil
}

// Release frees the memory of a request that has been compared, or will not be.
func (o *Observation) Release() { o.pods.forget() }

// Observe predicts, waits until it is over, and compares. It comes after an answer of Observed.
func (s *Steerer) Observe(ctx context.Context, o *Outcome) Comparison {
	defer o.Release()
	if err := s.predict(o); err != nil {
		logf.FromContext(ctx).Error(err, "cannot predict", "kind", o.Kind, "namespace", o.Key.Namespace, "name", o.Key.Name)
		return Comparison{Without: Unpredicted}
	}
	return s.compare(ctx, o)
}

// predict predicts which pods are deleted. It takes seconds if there are many, so one prediction is made at a time.
func (s *Steerer) predict(o *Outcome) (err error) {
	s.Limits.predicting.Lock()
	defer s.Limits.predicting.Unlock()
	active, related := o.pods.active, o.pods.related
	o.Prediction, err = decide.Predict(active, related, len(active)-int(o.To), o.At)
	o.States, o.Active = decide.StatesOf(active, related), decide.NamesOf(active)
	o.pods.active, o.pods.related = nil, nil
	return err
}

// A set is read again after firstPause, and then after twice as long each time, up to lastPause, until its controller has done its work.
const (
	firstPause = time.Second / 2
	lastPause  = 4 * time.Second
)

// Why a prediction cannot be compared. These are the reasons of metrics.
const (
	NotFallen = "NotScaledDown"
	Changed   = "ScaledAgain"
	// PodsChanged: other pods were created, deleted or changed in between, such as the new ones of a rollout, whose
	// nodes count.
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
	// Deleted are the pods that were deleted.
	Deleted decide.Names
	// Wrong says what was predicted wrongly, pod by pod.
	Wrong []string
}

// compare waits until a scale-down that nobody steered is over, or the context ends, and finds out which pods were deleted and whether that was
// predicted. It only reads.
func (s *Steerer) compare(ctx context.Context, o *Outcome) Comparison {
	for wait := firstPause; ; wait = min(2*wait, lastPause) {
		if c := s.look(ctx, o); c != nil {
			return *c
		}
		select {
		case <-ctx.Done():
			return Comparison{Without: NotFallen}
		case <-time.After(wait):
		}
	}
}

// look compares, or returns nil if the scale-down is not over yet.
func (s *Steerer) look(ctx context.Context, o *Outcome) *Comparison {
	set, err := workload.Get(ctx, s.Later, o.Kind, o.Key)
	switch {
	case apierrors.IsNotFound(err) || err == nil && set.UID() != o.Set.UID():
		return &Comparison{Without: Deleted}
	case ctx.Err() != nil:
		return nil
	case err != nil:
		return &Comparison{Without: Unread}
	case set.Replicas != o.To && set.Replicas != o.From:
		return &Comparison{Without: Changed}
	case set.Replicas == o.From || !set.IsOver:
		return nil
	}
	end, err := s.Limits.comparing.Lock(ctx, o.Key.Namespace)
	if err != nil {
		return nil
	}
	defer end()
	all, err := s.list(ctx, s.Later, &s.Limits.toPredict, set, nil)
	if err != nil {
		return &Comparison{Without: Unread}
	}
	defer all.forget()
	now, then := decide.StatesOf(all.active, all.related), maps.Clone(o.States)
	deleted := decide.Names{}
	for uid, name := range o.Active {
		if _, isKept := now[uid]; !isKept {
			deleted[uid] = name
			delete(then, uid)
		}
	}
	if len(deleted) != o.Prediction.Delete || !maps.Equal(now, then) {
		return &Comparison{Without: PodsChanged}
	}
	return &Comparison{Deleted: deleted, Wrong: o.Prediction.Wrong(deleted)}
}
