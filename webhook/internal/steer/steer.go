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
	"fmt"
	"slices"
	"sync"
	"time"

	"golang.org/x/time/rate"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/podrank/podrank/webhook/api/v1alpha1"
	"github.com/podrank/podrank/webhook/internal/barrier"
	"github.com/podrank/podrank/webhook/internal/bounded"
	"github.com/podrank/podrank/webhook/internal/cost"
	"github.com/podrank/podrank/webhook/internal/decide"
	"github.com/podrank/podrank/webhook/internal/policy"
	"github.com/podrank/podrank/webhook/internal/values"
	"github.com/podrank/podrank/webhook/internal/workload"
)

// NodePods knows which sets have pods on which nodes.
type NodePods interface {
	// Wait waits until they are known.
	Wait(ctx context.Context) error
	// Excluding returns the pods of all other sets than this one.
	Excluding(set types.UID) []decide.NodePod
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
	// NodePods are what else is on the nodes.
	NodePods NodePods
	// Values are read if a policy asks for them.
	Values Values
	// Now is the clock.
	Now func() time.Time
	// Limits keep a namespace from using what other namespaces need.
	Limits *Limits
	// Observes is whether nothing is steered, whatever policies say.
	Observes bool
	// ForeignCosts is what the administrator allows policies to say about foreign costs.
	ForeignCosts []v1alpha1.ForeignCosts
}

// A fall is a request for as long as it waits for its answer.
type fall struct {
	*Outcome
	by *Steerer
	// decides is whether a decision was begun.
	decides bool
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
		isLate := errors.Is(err, context.DeadlineExceeded) || ctx.Err() != nil
		switch {
		case errors.Is(err, bounded.ErrBusy), errors.Is(err, errNoRoom):
			f.Result = TooMany
		case isLate && !f.Result.Holds():
			f.Result = DeadlineExceeded
		}
		if f.Result.IsFailure() && (len(f.touched) > 0 || f.Decision > 1) {
			f.Result = Unsettled
		}
		f.Message = err.Error()
	}
	// One that finds too many before it, or is about an earlier state of the set, says nothing about decisions.
	if f.decides && f.Result != TooMany && f.Result != Stale {
		f.by.Limits.late.Note(f.Key.Namespace, f.Result != Unconfirmed && errors.Is(err, context.DeadlineExceeded), f.by.Now())
	}
	if f.Set != nil {
		for _, write := range slices.Concat(f.writes, f.annotations) {
			if write.Steered.Selected && !f.touched[write.Pod.UID] {
				f.Unannotated++
			}
		}
		if f.Result == Unsettled {
			// Nothing was asked about these.
			f.Count, f.Unannotated = f.Count-f.Unannotated, 0
		}
		f.remember(f.Result)
	}
	return f.Outcome
}

func (f *fall) run(ctx context.Context) (Result, error) {
	for _, may := range []func(context.Context) (Result, error){f.mayAsk, f.repeats} {
		if result, err := may(ctx); result != Steered {
			return result, err
		}
	}
	ctx, stop := context.WithTimeout(ctx, f.rest(ctx))
	defer stop()
	if f.by.Limits.late.IsOpen(f.Key.Namespace, f.At) {
		return CircuitOpen, fmt.Errorf("the last %d decisions in this namespace took too long, so none is made for %v", bounded.DecisionFailures, bounded.DecisionRest)
	}
	if !f.by.Limits.allow(f.Key.Namespace) {
		return TooMany, errors.New("too many requests in this namespace")
	}
	f.decides = true
	if result, err := f.inTurn(ctx, f.decide); result != Steered {
		return result, err
	}
	deadline, _ := ctx.Deadline()
	for {
		began := f.by.Now()
		wrote := f.remember(Unconfirmed)
		annotated := make(chan bool)
		go func() { annotated <- f.writeAnnotations(ctx) }()
		result, err := f.confirm(ctx)
		areThere := <-annotated
		if result != Steered {
			return result, err
		}
		// Somebody else may write these costs, too, at any time.
		stands, _ := f.stands(ctx, wrote)
		// If less time is left than the controller has taken, another decision would be late.
		now := f.by.Now()
		switch isLast := f.Decision == bounded.DecisionsOfOne || deadline.Sub(now) < now.Sub(began); {
		case stands && (areThere || isLast):
			return Steered, err
		case isLast:
			return Unsettled, errChanged
		}
		f.Decision++
		if result, err := f.inTurn(ctx, f.write); result != Steered {
			return result, err
		}
	}
}

// inTurn does something in the turn of the namespace.
func (f *fall) inTurn(ctx context.Context, do func(context.Context) (Result, error)) (Result, error) {
	end, err := f.by.Limits.turns.Lock(ctx, f.Key.Namespace)
	if err != nil {
		return Failed, err
	}
	defer end()
	return do(ctx)
}

// decide chooses the policy, and writes costs by it.
func (f *fall) decide(ctx context.Context) (Result, error) {
	err := f.choosePolicy(ctx)
	switch {
	case apierrors.IsNotFound(err) || err == nil && f.Set == nil:
		return Stale, nil
	case err != nil:
		return Failed, err
	case f.Set.Object.GetDeletionTimestamp() != nil:
		return NothingToDo, nil
	case f.chosen == nil:
		return NoPolicy, nil
	case f.isOld && !f.IsScale && f.chosen.Policy.Spec.Rollouts != v1alpha1.RolloutsSteer:
		return RolloutIgnored, nil
	case f.by.Observes || f.chosen.Policy.Spec.Observes():
		return f.observe(ctx)
	}
	if f.chosen.Policy.Spec.EmptyNodes == v1alpha1.EmptyNodesPrefer {
		if err := f.by.NodePods.Wait(ctx); err != nil {
			return DeadlineExceeded, err
		}
	}
	f.nodes, f.theirs, f.written = f.by.nodes(ctx), map[types.UID]bool{}, map[types.UID]bool{}
	f.readValues(ctx)
	return f.write(ctx)
}

// mayAsk reports whether the request is worth one to the API server, by Steered, and notes the generation of the set as far as the cache knows. The set may be
// newer than the cache.
func (f *fall) mayAsk(ctx context.Context) (Result, error) {
	if f.To <= 0 || f.To >= f.From {
		return NothingToDo, nil
	}
	if f.DryRun {
		return DryRun, nil
	}
	// The cache does not know what policies say, only that they are there.
	isThere, err := policy.IsThere(ctx, f.by.Cache, f.Key.Namespace)
	if err != nil {
		return Failed, err
	}
	if !isThere {
		return NoPolicy, nil
	}
	known := workload.Metadata(f.Kind)
	if err := f.by.Cache.Get(ctx, f.Key, known); client.IgnoreNotFound(err) != nil {
		return Failed, err
	}
	if known.UID == f.SetUID {
		f.Generation = known.Generation
	}
	return Steered, nil
}

// choosePolicy reads the set, if the request is about it as it is, and chooses the policy for it, if there is one.
func (f *fall) choosePolicy(ctx context.Context) error {
	set, err := workload.Get(ctx, f.by.Live, f.Kind, f.Key)
	if err != nil || !f.isAbout(set) {
		return err
	}
	f.Set = set
	err = policy.Each(ctx, f.by.Live, f.Key.Namespace, f.by.ForeignCosts, func(each *policy.Compiled, err error) {
		if err == nil && each.Selects(set) && (f.chosen == nil || policy.Compare(each, f.chosen) < 0) {
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

// pass waits until the controller has seen the costs, unless it was slow to see the last ones: it sees them no sooner if somebody waits for that, and anyone
// who scales would wait.
func (f *fall) pass(ctx context.Context) error {
	if f.by.Limits.slow.IsOpen(f.Key.Namespace, f.At) {
		return errSlow
	}
	err := f.by.Barrier(ctx)
	f.by.Limits.slow.Note(f.Key.Namespace, errors.Is(err, context.DeadlineExceeded), f.by.Now())
	return err
}

// confirm waits until the controller has seen the costs, if the policy is still there.
func (f *fall) confirm(ctx context.Context) (Result, error) {
	late := f.pass(ctx)
	mayHaveSeen := errors.Is(late, barrier.ErrLeader) || errors.Is(late, barrier.ErrLost) || errors.Is(late, errSlow)
	if late != nil && !mayHaveSeen && !errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return Failed, late
	}
	var now v1alpha1.ScaleDownPolicy
	err := f.by.Cache.Get(context.WithoutCancel(ctx), client.ObjectKeyFromObject(f.Policy), &now)
	if apierrors.IsNotFound(err) || err == nil && (now.UID != f.Policy.UID || now.DeletionTimestamp != nil) {
		return Unsettled, errors.New("the policy was deleted while costs were written")
	}
	if late != nil {
		return Unconfirmed, late
	}
	return Steered, err
}

var errChanged = errors.New("pods changed after the last decision about this scale-down")

var errSlow = fmt.Errorf("the controller was slow to see the costs of the last %d scale-downs in this namespace, so podrank-webhook does not wait for it for %v",
	bounded.DecisionFailures, bounded.DecisionRest)

// Limits keep a namespace from using what other namespaces need. Anyone who may make sets and policies there decides
// how large they are and, by forging requests, how often they are decided about.
type Limits struct {
	perSecond int
	// One decision of a namespace is made at a time, while one other request waits for that.
	turns bounded.Semaphores
	// late opens for namespaces whose decisions run out of time, and slow for those whose waits for the controller do: the client that scales waits for each of
	// these decisions, and the Deployment controller has few workers for all namespaces.
	late, slow bounded.Breaker[string]
	// wholeNodes is for decisions about whole nodes, which compute with all pods of the cluster. It reads nothing.
	wholeNodes *bounded.Reader
	// predicting is for predictions, and comparing for one comparison of a namespace, since several would have more pods in memory than one needs.
	predicting sync.Mutex
	comparing  bounded.Semaphores
	// recent has, by the UIDs of their sets, what this replica has just decided.
	recent *cache.LRUExpireCache

	// rates has a rate.Limiter for each namespace.
	rates sync.Map
	// toDecide are pods in memory for decisions, and toPredict those for predictions and comparisons.
	toDecide, toPredict bounded.Semaphores
}

// NewLimits allows so many decisions a second for each namespace.
func NewLimits(perSecond int) *Limits {
	l := &Limits{perSecond: perSecond, wholeNodes: bounded.NewReader(nil, 1), recent: cache.NewLRUExpireCache(bounded.Repeats)}
	l.turns.Most = 2
	l.toDecide.Most, l.toDecide.InAll = bounded.DecisionPods, bounded.AllDecisionPods
	l.toPredict.Most, l.toPredict.InAll = bounded.PredictionPods, bounded.AllPredictionPods
	for _, breaker := range []*bounded.Breaker[string]{&l.late, &l.slow} {
		breaker.Failures, breaker.Rest = bounded.DecisionFailures, bounded.DecisionRest
	}
	return l
}

// allow reports whether there may be another decision for a namespace. It keeps something for each namespace that has asked, so
// only those that have policies should.
func (l *Limits) allow(namespace string) bool {
	limiter, _ := l.rates.LoadOrStore(namespace, rate.NewLimiter(rate.Limit(l.perSecond), bounded.DecisionsBurst*l.perSecond))
	return limiter.(*rate.Limiter).Allow()
}
