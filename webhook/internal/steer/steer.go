// Package steer is what happens while a request to lower a count waits for its answer: it chooses the policy, decides, writes
// costs and passes the barrier, or only predicts. It never refuses a request: it only says what became of it.
//
// +kubebuilder:rbac:groups=podrank.dev,resources=scaledownpolicies,verbs=get;list;watch
// +kubebuilder:rbac:groups="",resources=nodes,verbs=list;watch
// +kubebuilder:rbac:groups="",resources=pods;replicationcontrollers,verbs=get;list;watch
// +kubebuilder:rbac:groups=apps,resources=replicasets,verbs=get;list;watch
// +kubebuilder:rbac:groups=apps,resources=deployments,verbs=get
package steer

import (
	"context"
	"errors"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/podrank/podrank/webhook/api/v1alpha1"
	"github.com/podrank/podrank/webhook/internal/bounded"
	"github.com/podrank/podrank/webhook/internal/canary"
	"github.com/podrank/podrank/webhook/internal/cost"
	"github.com/podrank/podrank/webhook/internal/decide"
	"github.com/podrank/podrank/webhook/internal/policy"
	"github.com/podrank/podrank/webhook/internal/values"
	"github.com/podrank/podrank/webhook/internal/workload"
)

// Neighbours knows which sets have pods on which nodes.
type Neighbours interface {
	// Wait waits until they are known.
	Wait(ctx context.Context) error
	// Others returns the pods of all other sets than this one.
	Others(set types.UID) []decide.Neighbour
}

// Values reads a value of each pod of a namespace.
type Values interface {
	Read(ctx context.Context, namespace string, of values.Source) (map[string]values.Value, error)
}

// A Steerer steers.
type Steerer struct {
	// Cache has nodes, and the metadata of policies, sets and pods.
	Cache client.Reader
	// Live reads from the API server what requests wait for, and Later the rest.
	Live, Later *bounded.Reader
	Costs       *cost.Writer
	// Barrier lets through who has waited until the controller has seen earlier writes.
	Barrier func(context.Context) error
	// Neighbours are what else is on the nodes.
	Neighbours Neighbours
	// Values are read if a policy asks for them.
	Values Values
	// Now is the clock.
	Now func() time.Time
	// Limits keep a namespace from taking what the others need.
	Limits *Limits
	// Observes is whether nothing is steered, whatever policies say.
	Observes bool
	// Others is what the operator allows to become of the costs of others.
	Others []v1alpha1.Others
}

// A fall is a request for as long as it waits for its answer.
type fall struct {
	*Outcome
	by *Steerer
	// chosen is the policy, and isOld whether a rollout shrinks the set.
	chosen *policy.Compiled
	isOld  bool
	plan
}

// Steer does for a request what can be done until the context ends.
func (s *Steerer) Steer(ctx context.Context, request Request) *Outcome {
	f := &fall{Outcome: &Outcome{Request: request, At: s.Now()}, by: s}
	var err error
	if f.Result, err = f.run(ctx); err != nil {
		if ctx.Err() != nil && f.Result != Unconfirmed {
			f.Result = DeadlineExceeded
		}
		f.Message = err.Error()
	}
	return f.Outcome
}

func (f *fall) run(ctx context.Context) (Result, error) {
	if result, err := f.mayAsk(ctx); result != Steered {
		return result, err
	}
	err := f.choosePolicy(ctx)
	switch {
	case err != nil:
		return Failed, err
	case f.Set == nil:
		return Stale, nil
	case f.Set.Object.GetDeletionTimestamp() != nil:
		return NothingToDo, nil
	case f.chosen == nil:
		return NoPolicy, nil
	case f.isOld && !f.IsScale && !f.chosen.Policy.Spec.Rollouts:
		return RolloutIgnored, nil
	case f.by.Observes || f.chosen.Policy.Spec.Observes():
		return f.observe(ctx)
	}
	unlock, err := f.by.Limits.sets.Lock(ctx, f.Set.UID())
	if err != nil {
		return Failed, err
	}
	defer unlock()
	if result, err := f.prepare(ctx); result != Steered {
		return result, err
	}
	for again := false; ; again = true {
		began := f.by.Now()
		if result, err := f.write(ctx); result != Steered {
			return result, err
		}
		// Somebody else may write these costs, too, at any time.
		if result, err := f.confirm(ctx); result != Steered || again || f.stands(ctx) || f.isLate(ctx, began) {
			return result, err
		}
	}
}

// isLate reports whether there is less time left than has passed since then.
func (f *fall) isLate(ctx context.Context, since time.Time) bool {
	now := f.by.Now()
	deadline, ok := ctx.Deadline()
	return ok && deadline.Sub(now) < now.Sub(since)
}

// mayAsk reports whether the request is worth one to the API server.
func (f *fall) mayAsk(ctx context.Context) (Result, error) {
	if f.To <= 0 || f.To >= f.From {
		return NothingToDo, nil
	}
	if f.DryRun {
		return DryRun, nil
	}
	// What is not about a set of that UID does not count as a decision of the namespace, either.
	known := workload.Metadata(f.Kind)
	if err := f.by.Cache.Get(ctx, f.Key, known); apierrors.IsNotFound(err) || err == nil && known.UID != f.SetUID {
		return Stale, nil
	}
	if !f.by.Limits.allow(f.Key.Namespace) {
		return TooMany, errors.New("too many requests in this namespace")
	}
	// The cache does not know what policies say, only that they are there.
	if isThere, err := policy.IsThere(ctx, f.by.Cache, f.Key.Namespace); err != nil {
		return Failed, err
	} else if !isThere {
		return NoPolicy, nil
	}
	return Steered, nil
}

// choosePolicy reads the set, if the request is about it as it is, and chooses the policy for it, if there is one.
func (f *fall) choosePolicy(ctx context.Context) error {
	end, err := f.by.Limits.turns.Lock(ctx, f.Key.Namespace)
	if err != nil {
		return err
	}
	defer end()
	set, err := workload.Get(ctx, f.by.Live, f.Kind, f.Key)
	if err != nil || !f.isAbout(set) {
		return err
	}
	f.Set = set
	err = policy.Each(ctx, f.by.Live, f.Key.Namespace, f.by.Others, func(each *policy.Compiled, err error) {
		if err == nil && each.Selects(set.TemplateLabels) && (f.chosen == nil || policy.Compare(each, f.chosen) < 0) {
			f.chosen = each
		}
	})
	// There may be many labels, and nobody needs them after this.
	set.TemplateLabels = nil
	if err != nil || f.chosen == nil {
		return err
	}
	f.Policy = &v1alpha1.ScaleDownPolicy{ObjectMeta: f.chosen.Policy.ObjectMeta}
	f.isOld, err = set.IsOld(ctx, f.by.Live)
	return err
}

// confirm waits until the controller has seen the costs, if the policy is still there.
func (f *fall) confirm(ctx context.Context) (Result, error) {
	late := f.by.Barrier(ctx)
	if late != nil && !errors.Is(late, canary.ErrLeader) && !errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return Failed, late
	}
	var now v1alpha1.ScaleDownPolicy
	err := f.by.Cache.Get(context.WithoutCancel(ctx), client.ObjectKeyFromObject(f.Policy), &now)
	if apierrors.IsNotFound(err) || err == nil && (now.UID != f.Policy.UID || now.DeletionTimestamp != nil) {
		return PolicyDeleted, errors.New("the policy was deleted while costs were written")
	}
	if late != nil {
		return Unconfirmed, late
	}
	return Steered, err
}

// TakeOff takes off the costs of a request that was not steered, except those on which a later request relies. It returns how
// many came off. It may be called when the request has been answered.
func (s *Steerer) TakeOff(ctx context.Context, o *Outcome) (count int, err error) {
	if o.Result.Holds() || len(o.Undo) == 0 {
		return 0, nil
	}
	unlock, err := s.Limits.sets.Lock(ctx, o.Set.UID())
	if err != nil {
		return 0, err
	}
	defer unlock()
	var failed []error
	for _, err := range s.Costs.TakeOff(ctx, o.Undo) {
		if err == nil {
			count++
		} else if !errors.Is(err, cost.ErrGone) {
			failed = append(failed, err)
		}
	}
	return count, errors.Join(failed...)
}
