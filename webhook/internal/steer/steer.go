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
	"strconv"
	"sync"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/podrank/podrank/webhook/api/v1alpha1"
	"github.com/podrank/podrank/webhook/internal/bounded"
	"github.com/podrank/podrank/webhook/internal/cost"
	"github.com/podrank/podrank/webhook/internal/decide"
	"github.com/podrank/podrank/webhook/internal/policy"
	"github.com/podrank/podrank/webhook/internal/workload"
)

// A Result is what became of a request. Its text is the reason in events and conditions, and a label of metrics.
type Result string

// The results. All but the first few are failures. The costs of a request come off again, unless it was steered, confirmed or not.
const (
	// Steered: the wanted pods have the lowest costs, and the controller has seen them.
	Steered Result = "Steered"
	// Unconfirmed: the wanted pods have the lowest costs, but the deadline came before it was clear that the controller has seen
	// them. The comparison tells whether it had.
	Unconfirmed Result = "Unconfirmed"
	// Observed: the policy only observes which pods Kubernetes deletes.
	Observed Result = "Observed"
	// NoPolicy: no policy selects the set.
	NoPolicy Result = "NoPolicy"
	// NothingToDo: no pod goes, or all do.
	NothingToDo Result = "NothingToDo"
	// DryRun: the request is a dry run, which must have no effects.
	DryRun Result = "DryRun"
	// RolloutIgnored: a rollout may shrink the set, and the policy says to leave that alone.
	RolloutIgnored Result = "RolloutIgnored"
	// Stale: the request is about an earlier state of the set. If it is one of the API server, that will notice, and ask again.
	Stale Result = "Stale"
	// StoodAside: kubectl podrank is steering this set.
	StoodAside Result = "StoodAside"

	// NoRoom: the costs of others leave none for the wanted pods.
	NoRoom Result = "NoRoom"
	// Conflict: pods or their costs changed again and again while costs were written.
	Conflict Result = "Conflict"
	// DeadlineExceeded: there was no time left.
	DeadlineExceeded Result = "DeadlineExceeded"
	// TooMany: more requests came from the namespace than are decided.
	TooMany Result = "TooMany"
	// PolicyDeleted: the policy was deleted meanwhile.
	PolicyDeleted Result = "PolicyDeleted"
	// Failed: the API server or the decision returned an error.
	Failed Result = "Failed"
)

// IsFailure reports whether something was to be steered and was not.
func (r Result) IsFailure() bool {
	return slices.Contains([]Result{NoRoom, Conflict, DeadlineExceeded, TooMany, PolicyDeleted, Failed}, r)
}

// Concerns reports whether the result is about a policy, and so worth telling. To tell of each of too many would be too much.
func (r Result) Concerns() bool {
	return r.Holds() || r == StoodAside || r.IsFailure() && r != TooMany
}

// Holds reports whether the costs of a request stay until its pods are gone.
func (r Result) Holds() bool { return r == Steered || r == Unconfirmed }

// A Request is one that lowers a count.
type Request struct {
	// UID tells it from all others.
	UID      types.UID
	Kind     workload.Kind
	Key      types.NamespacedName
	From, To int32
	DryRun   bool
	// Set and Version are the UID and the resource version of the set whose count falls.
	Set     types.UID
	Version string
	// IsScale is whether the Deployment of the set changes its own count by this request, so that it is no step of a rollout.
	IsScale bool
}

// isAbout reports whether the request was made for this state of a set. Others, among them forged ones, change nothing.
func (r *Request) isAbout(set *workload.Set) bool {
	return r.Set == set.UID() && r.Version == set.Object.GetResourceVersion() && r.From == set.Replicas
}

// An Outcome says what became of a request.
type Outcome struct {
	Request
	Result  Result
	Message string
	// At is when the request came.
	At time.Time
	// Set is nil if it was not read, and Policy if none applies. Both are only what reports need.
	Set    *workload.Set
	Policy *v1alpha1.ScaleDownPolicy
	// Wanted are the pods that should go, and Count is how many, also when they are forgotten.
	Wanted []cost.Pod
	Count  int
	// Written is how many costs were written.
	Written int
	// Undo is how to take off what was written, or may have been, if the set is not steered after all.
	Undo []cost.Undo
	// Blocked are the first of the pods that go although others should, and Blocks is how many there are, by rule.
	Blocked []decide.Blocked
	Blocks  map[string]int
	// Active are the set's active pods by their names alone, if they are only observed, and Prediction says which of them go. all has what is
	// predicted from until then.
	Active     []decide.Name
	Prediction *decide.Prediction
	all        *pods
	// States are what the prediction was made from.
	States decide.States
}

// Blocking is how many pods go although others should.
func (o *Outcome) Blocking() (count int) {
	for _, each := range o.Blocks {
		count += each
	}
	return count
}

// Forget forgets what nobody needs once the request is answered: it may take some time until it is reported.
func (o *Outcome) Forget() {
	o.Wanted = nil
	if o.Result.Holds() {
		o.Undo = nil
	}
	if o.Set != nil && o.Result != Observed {
		o.Set.Selector = nil
	}
}

// A Barrier lets through who has waited until the controller has seen earlier writes.
type Barrier interface {
	Wait(ctx context.Context) error
}

// Neighbours knows which sets have pods on which nodes.
type Neighbours interface {
	// Wait waits until they are known.
	Wait(ctx context.Context) error
	// Others returns the pods of all other sets than this one.
	Others(set types.UID) []decide.Neighbour
}

// named is how many pods that are blocked are named.
const named = 5

// attempts is how often a plan is made anew because pods changed while their costs were written.
const attempts = 4

// A Steerer steers.
type Steerer struct {
	// Cache has the metadata of policies, nodes, sets and pods, and Cordoned that of cordoned nodes.
	Cache, Cordoned client.Reader
	// Live reads from the API server what requests wait for, and Later the rest.
	Live, Later *bounded.Reader
	Costs       *cost.Writer
	Barrier     Barrier
	// Neighbours are what else is on the nodes.
	Neighbours Neighbours
	// Now is the clock.
	Now func() time.Time
	// Limits keep a namespace from taking what the others need.
	Limits *Limits

	// sets keep two requests about one set from writing at the same time.
	sets bounded.Locks[types.UID]
	// One prediction is made at a time.
	predicting sync.Mutex
}

// Steer does for a request what can be done until the context ends.
func (s *Steerer) Steer(ctx context.Context, request Request) *Outcome {
	o := &Outcome{Request: request, At: s.Now()}
	result, err := s.steer(ctx, o)
	o.Result = result
	if err != nil {
		if ctx.Err() != nil && result != Unconfirmed {
			o.Result = DeadlineExceeded
		}
		o.Message = err.Error()
	}
	return o
}

func (s *Steerer) steer(ctx context.Context, o *Outcome) (Result, error) {
	if o.To <= 0 || o.To >= o.From {
		return NothingToDo, nil
	}
	if o.DryRun {
		return DryRun, nil
	}
	// What is not about a set of that UID costs neither a request to the API server nor a decision of the namespace.
	known := workload.Metadata(o.Kind)
	if err := s.Cache.Get(ctx, o.Key, known); apierrors.IsNotFound(err) || err == nil && known.UID != o.Request.Set {
		return Stale, nil
	}
	if !s.Limits.allow(o.Key.Namespace) {
		return TooMany, errors.New("too many requests in this namespace")
	}
	// The cache does not know what policies say, only that they are there.
	var policies v1alpha1.ScaleDownPolicyList
	if err := s.Cache.List(ctx, &policies, client.InNamespace(o.Key.Namespace), client.UnsafeDisableDeepCopy, client.Limit(1)); err != nil {
		return Failed, err
	}
	if len(policies.Items) == 0 {
		return NoPolicy, nil
	}
	chosen, isOld, err := s.choose(ctx, o)
	switch {
	case err != nil:
		return Failed, err
	case o.Set == nil:
		return Stale, nil
	case o.Set.Object.GetDeletionTimestamp() != nil:
		return NothingToDo, nil
	case chosen == nil:
		return NoPolicy, nil
	case isOld && !o.IsScale && !chosen.Policy.Spec.Rollouts:
		return RolloutIgnored, nil
	case chosen.Policy.Spec.Observes():
		return s.observe(ctx, o)
	}
	unlock, err := s.sets.Lock(ctx, o.Set.UID())
	if err != nil {
		return DeadlineExceeded, fmt.Errorf("another scale-down of the set takes long: %w", err)
	}
	defer unlock()
	if result, err := s.write(ctx, o, chosen, isOld); result != Steered {
		return result, err
	}
	late := s.Barrier.Wait(ctx)
	if late != nil && !errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return Failed, late
	}
	var now v1alpha1.ScaleDownPolicy
	err = s.Cache.Get(context.WithoutCancel(ctx), client.ObjectKeyFromObject(o.Policy), &now)
	if apierrors.IsNotFound(err) || err == nil && (now.UID != o.Policy.UID || now.DeletionTimestamp != nil) {
		return PolicyDeleted, errors.New("the policy was deleted while costs were written")
	}
	if late != nil {
		return Unconfirmed, late
	}
	return Steered, err
}

// choose reads the set, if the request is about it as it is, and chooses the policy for it, if there is one. It also says whether a rollout
// shrinks the set.
func (s *Steerer) choose(ctx context.Context, o *Outcome) (*policy.Compiled, bool, error) {
	end, err := s.Limits.turn(ctx, o.Key.Namespace)
	if err != nil {
		return nil, false, err
	}
	defer end()
	set, err := workload.Get(ctx, s.Live, o.Kind, o.Key)
	if err != nil || !o.isAbout(set) {
		return nil, false, err
	}
	o.Set = set
	var chosen *policy.Compiled
	err = policy.Each(ctx, s.Live, o.Key.Namespace, func(each *policy.Compiled, err error) {
		if err == nil && each.Selects(set.TemplateLabels) && (chosen == nil || policy.Compare(each, chosen) < 0) {
			chosen = each
		}
	})
	// There may be many labels, and nobody needs them after this.
	set.TemplateLabels = nil
	if err != nil || chosen == nil {
		return nil, false, err
	}
	o.Policy = &v1alpha1.ScaleDownPolicy{ObjectMeta: chosen.Policy.ObjectMeta}
	isOld, err := set.IsOld(ctx, s.Live)
	return chosen, isOld, err
}

// observe reads what a prediction needs.
func (s *Steerer) observe(ctx context.Context, o *Outcome) (Result, error) {
	end, err := s.Limits.turn(ctx, o.Key.Namespace)
	if err != nil {
		return Failed, err
	}
	defer end()
	if !s.Limits.observed.Enter(o.Key.Namespace, bounded.Comparisons) {
		return TooMany, fmt.Errorf("%d scale-downs of the namespace are being observed", bounded.Comparisons)
	}
	all, err := s.pods(ctx, s.Live, toPredict, o.Set, nil)
	switch {
	case err != nil:
		s.Limits.observed.Leave(o.Key.Namespace)
		return why(err), err
	case len(all.active) <= int(o.To):
		s.forget(o.Set, all)
		s.Limits.observed.Leave(o.Key.Namespace)
		return NothingToDo, nil
	}
	o.all = all
	return Observed, nil
}

// Predict predicts which pods go, of a request that is only observed. It takes seconds if there are many, so it is for the time after
// the answer, and one runs at a time. Whatever comes of it, Observed has to follow.
func (s *Steerer) Predict(o *Outcome) error {
	s.predicting.Lock()
	defer s.predicting.Unlock()
	var err error
	active, related := o.all.active, o.all.related
	o.Prediction, err = decide.Predict(active, related, len(active)-int(o.To), o.At)
	o.States, o.Active = decide.StatesOf(active, related), decide.Names(active)
	o.all.active, o.all.related = nil, nil
	return err
}

// Observed forgets a request that was observed. Until then, what it keeps of its pods counts as if it had them whole.
func (s *Steerer) Observed(o *Outcome) {
	s.forget(o.Set, o.all)
	s.Limits.observed.Leave(o.Key.Namespace)
}

// A plan is what is known while costs for a request are written.
type plan struct {
	*Outcome
	chosen *policy.Compiled
	isOld  bool
	nodes  policy.Nodes
	// theirs are the pods whose cost somebody else has written meanwhile, and undone those that have an entry in Undo.
	theirs, undone map[types.UID]bool
	// writes are the costs to write, of which the first so many are new. The others only get a new mark.
	writes []cost.Write
	news   int
}

// write plans and writes costs, anew if pods change meanwhile.
func (s *Steerer) write(ctx context.Context, o *Outcome, chosen *policy.Compiled, isOld bool) (Result, error) {
	if chosen.Policy.Spec.EmptyNodes {
		if err := s.Neighbours.Wait(ctx); err != nil {
			return DeadlineExceeded, err
		}
	}
	p := &plan{Outcome: o, chosen: chosen, isOld: isOld, nodes: s.nodes(ctx), theirs: map[types.UID]bool{}, undone: map[types.UID]bool{}}
	written := map[types.UID]bool{}
	var last error
	for range attempts {
		if result, err := s.plan(ctx, p); result != Steered {
			return result, err
		}
		unlock, err := s.Limits.writing.Lock(ctx, o.Key.Namespace)
		if err != nil {
			return DeadlineExceeded, fmt.Errorf("other scale-downs of the namespace take long: %w", err)
		}
		errs := s.Costs.Write(ctx, p.writes)
		unlock()
		last = nil
		var failed error
		for i, err := range errs {
			switch {
			case err == nil:
				if uid := p.writes[i].Pod.UID; i < p.news && !written[uid] {
					written[uid] = true
					o.Written++
				}
				continue
			case errors.Is(err, cost.ErrTheirs):
				p.theirs[p.writes[i].Pod.UID] = true
			case !errors.Is(err, cost.ErrGone):
				failed = err
			}
			last = err
		}
		if failed != nil {
			return Failed, failed
		}
		if last == nil {
			return Steered, nil
		}
	}
	return Conflict, fmt.Errorf("pods changed %d times while their costs were written: %w", attempts, last)
}

// plan decides which costs to write for the pods as they are now. The result is Steered if there is a plan. What it reads is forgotten when it
// returns.
func (s *Steerer) plan(ctx context.Context, p *plan) (Result, error) {
	end, err := s.Limits.turn(ctx, p.Key.Namespace)
	if err != nil {
		return Failed, err
	}
	defer end()
	owners, tiers, ofTerminal := map[types.UID]cost.Owner{}, map[types.UID]int{}, ""
	all, err := s.pods(ctx, s.Live, toDecide, p.Set, func(pod *corev1.Pod) {
		tiers[pod.UID] = p.chosen.Tier(pod, p.nodes)
		owners[pod.UID] = cost.OwnerOf(pod, p.Set.TemplateAnnotations)
		if owners[pod.UID] == cost.OfTerminal {
			ofTerminal = pod.Name
		}
	})
	if err != nil {
		return why(err), err
	}
	defer s.forget(p.Set, all)
	k := len(all.active) - int(p.To)
	switch {
	case k <= 0:
		return NothingToDo, nil
	case ofTerminal != "":
		return StoodAside, fmt.Errorf("kubectl podrank steers this set: pod %s has a deletion cost of it", ofTerminal)
	}
	alone := s.Live.Alone
	if p.chosen.Policy.Spec.EmptyNodes {
		alone = s.Limits.empty
	}
	var decision decide.Decision
	err = alone(ctx, func() (err error) {
		decision, err = decide.Decide(s.question(ctx, p, all, owners, tiers))
		return err
	})
	if errors.Is(err, decide.ErrNoRoom) {
		return NoRoom, err
	}
	if err != nil {
		return Failed, err
	}
	p.Blocked, p.Blocks = slices.Clone(decision.Blocked[:min(len(decision.Blocked), named)]), map[string]int{}
	for _, blocked := range decision.Blocked {
		p.Blocks[blocked.Rule]++
	}
	p.Wanted, p.Count = p.Wanted[:0], len(decision.Wanted)
	for _, pod := range decision.Wanted {
		p.Wanted = append(p.Wanted, cost.PodOf(pod))
	}
	relied := p.relied(&decision, all.active, func(pod *corev1.Pod) bool {
		owner := owners[pod.UID]
		return (owner == cost.Ours || owner == cost.FromTemplate) && !p.theirs[pod.UID]
	})
	p.writes, p.news = nil, len(decision.Writes)
	for _, planned := range slices.Concat(decision.Writes, relied) {
		pod := planned.Pod
		write := cost.Write{Pod: cost.PodOf(pod), Cost: planned.Cost, Mark: p.mark(planned.Goes)}
		if owners[pod.UID] == cost.FromTemplate {
			write.Over = pod.ResourceVersion
		}
		p.writes = append(p.writes, write)
		// Also if the answer is lost: the write may have been done.
		if !p.undone[pod.UID] {
			p.undone[pod.UID] = true
			before := cost.Before(pod, p.Set.TemplateAnnotations)
			p.Undo = append(p.Undo, cost.Undo{Pod: write.Pod, Mark: write.Mark, Before: before})
		}
	}
	return Steered, nil
}

// question is what to decide, of pods with these owners of their costs and tiers.
func (s *Steerer) question(ctx context.Context, p *plan, all *pods, owners map[types.UID]cost.Owner, tiers map[types.UID]int) decide.Question {
	q := decide.Question{
		Active: all.active, Related: all.related, Delete: len(all.active) - int(p.To),
		Tier:              func(pod *corev1.Pod) int { return tiers[pod.UID] },
		Domains:           p.chosen.Domains(p.nodes),
		NotAvailableFirst: p.isOld, MinReadySeconds: p.Set.MinReadySeconds,
		IsFixed: func(pod *corev1.Pod) bool { return owners[pod.UID] == cost.Other || p.theirs[pod.UID] },
		IsOurs:  func(pod *corev1.Pod) bool { return owners[pod.UID] == cost.Ours },
		Now:     p.At,
	}
	if p.chosen.Policy.Spec.EmptyNodes {
		q.Empty = &decide.EmptyNodes{
			Neighbours: s.Neighbours.Others(p.Set.UID()), Domains: p.chosen.NodeDomains(p.nodes), IsFirst: s.isCordoned(ctx),
		}
	}
	return q
}

// relied returns the costs of earlier requests that stay as they are. The plan relies on them, so they get this request's mark.
// The mark of an earlier attempt may have to change, too.
func (o *Outcome) relied(decision *decide.Decision, active []*corev1.Pod, isOurs func(*corev1.Pod) bool) []decide.Write {
	wanted, changes := map[*corev1.Pod]bool{}, map[*corev1.Pod]bool{}
	for _, pod := range decision.Wanted {
		wanted[pod] = true
	}
	for _, write := range decision.Writes {
		changes[write.Pod] = true
	}
	var relied []decide.Write
	for _, pod := range active {
		mark, isMarked := cost.Cached(pod)
		if isMarked && isOurs(pod) && !changes[pod] && mark != o.mark(wanted[pod]) {
			// Kubernetes, too, takes an invalid cost for 0.
			value, _ := strconv.ParseInt(pod.Annotations[corev1.PodDeletionCost], 10, 32)
			relied = append(relied, decide.Write{Pod: pod, Cost: int32(value), Goes: wanted[pod]})
		}
	}
	return relied
}

// mark is that of a pod with a cost for this request.
func (o *Outcome) mark(goes bool) cost.Mark {
	return cost.Mark{Set: o.Set.UID(), Count: o.To, Request: o.UID, Goes: goes}
}

// isCordoned tells which nodes are cordoned. One that cannot be read is not, since that only decides between nodes that are as good.
func (s *Steerer) isCordoned(ctx context.Context) func(name string) bool {
	return func(name string) bool {
		return s.Cordoned.Get(ctx, types.NamespacedName{Name: name}, workload.Metadata("Node")) == nil
	}
}

// nodes returns the labels of nodes, as the cache has them.
func (s *Steerer) nodes(ctx context.Context) policy.Nodes {
	known := map[string]labels.Set{}
	return func(name string) labels.Set {
		if name == "" {
			return nil
		}
		found, ok := known[name]
		if !ok {
			node := workload.Metadata("Node")
			if err := s.Cache.Get(ctx, types.NamespacedName{Name: name}, node); err == nil {
				found = node.Labels
			} else if !apierrors.IsNotFound(err) {
				logr.FromContextOrDiscard(ctx).Error(err, "cannot read a node", "node", name)
			}
			known[name] = found
		}
		return found
	}
}

// TakeOff takes off the costs of a request that was not steered, except those on which a later request relies. It returns how
// many came off. It may be called when the request has been answered.
func (s *Steerer) TakeOff(ctx context.Context, o *Outcome) (count int, err error) {
	if o.Result.Holds() || len(o.Undo) == 0 {
		return 0, nil
	}
	unlock, err := s.sets.Lock(ctx, o.Set.UID())
	if err != nil {
		return 0, fmt.Errorf("another scale-down of the set takes long: %w", err)
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
