package steer

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/podrank/podrank/webhook/api/v1alpha1"
	"github.com/podrank/podrank/webhook/internal/cost"
	"github.com/podrank/podrank/webhook/internal/decide"
	"github.com/podrank/podrank/webhook/internal/policy"
	"github.com/podrank/podrank/webhook/internal/values"
)

const (
	// attempts is how often a plan is made at most: pods may change while their costs are written.
	attempts = 4
	// Named is how many pods are named in a message.
	Named = 5
)

// A plan is which costs to write.
type plan struct {
	nodes policy.Nodes
	// read are the values that were read, if the policy asks for some, and unread is why there are none.
	read   map[string]values.Value
	unread error
	// valued are the pods of the entry in which values decide, until they are ranked, and order is their order, or nil if there is no such entry.
	valued []values.Pod
	order  *values.Order
	// tiers are those of pods, and costs whose their costs are.
	tiers map[types.UID]int
	costs map[types.UID]owned
	// rules are by which the pods are deleted that should.
	rules map[types.UID]string
	// theirs are the pods whose cost another program has written during this request, and written those with a new
	// cost.
	theirs, written map[types.UID]bool
	// touched are the pods that this decision has written to, which it does once for each, and changed is why another plan has to be made.
	touched map[types.UID]bool
	changed error
	// writes are the costs to write, of which the first so many are new. The remaining pods only get a new annotation.
	writes []cost.Write
	news   int
	// annotations are the writes for the other selected pods. The controller need not see them, so they are written while the barrier is passed.
	annotations []cost.Write
}

// write plans and writes costs, and does so again if pods have changed.
func (f *fall) write(ctx context.Context) (Result, error) {
	f.touched = map[types.UID]bool{}
	for range attempts {
		if result, err := f.choosePods(ctx); result != Steered {
			return result, err
		}
		var failed error
		for i, err := range f.by.Costs.Write(ctx, f.writes) {
			uid := f.writes[i].Pod.UID
			switch {
			case err == nil:
				f.touched[uid] = true
				if i < f.news {
					f.written[uid] = true
				}
				continue
			case errors.Is(err, cost.ErrTheirs):
				f.theirs[uid] = true
			case !errors.Is(err, cost.ErrChanged):
				failed = err
			}
			f.changed = err
		}
		f.Written = len(f.written)
		if failed != nil {
			return Failed, failed
		}
		if f.changed == nil {
			return Steered, nil
		}
	}
	return Unsettled, fmt.Errorf("pods changed %d times while their costs were written: %w", attempts, f.changed)
}

// writeAnnotations writes the annotations without costs, and reports whether all of these pods are still there. The deadline may come before all are written.
func (f *fall) writeAnnotations(ctx context.Context) (areThere bool) {
	areThere = true
	for i, err := range f.by.Costs.Write(ctx, f.annotations) {
		if err == nil {
			f.touched[f.annotations[i].Pod.UID] = true
		}
		areThere = areThere && !errors.Is(err, cost.ErrChanged)
	}
	return areThere
}

// choosePods decides which pods should be deleted, as they are now, and which costs to write for that. The result is
// Steered if that is known. It keeps nothing that it reads.
func (f *fall) choosePods(ctx context.Context) (Result, error) {
	ofTerminal := ""
	f.costs, f.tiers = map[types.UID]owned{}, map[types.UID]int{}
	all, err := f.by.list(ctx, f.by.Live, &f.by.Limits.toDecide, f.Set, func(pod *corev1.Pod) {
		f.setTier(pod)
		f.costs[pod.UID] = f.whose(pod)
		if f.costs[pod.UID].Owner == cost.OfTerminal {
			ofTerminal = pod.Name
		}
	})
	if err != nil {
		return Failed, err
	}
	defer all.forget()
	f.rank()
	switch {
	case len(all.active) <= int(f.To):
		return NothingToDo, nil
	case ofTerminal != "":
		return StoodAside, fmt.Errorf("kubectl podrank steers this set: pod %s has a deletion cost of it", ofTerminal)
	}
	var decision decide.Decision
	alone := f.by.Live.Alone
	if f.chosen.Policy.Spec.EmptyNodes == v1alpha1.EmptyNodesPrefer {
		// Nobody who reads waits for these.
		alone = f.by.Limits.wholeNodes.Alone
	}
	err = alone(ctx, func() (err error) {
		decision, err = decide.Decide(f.question(all))
		return err
	})
	if noRoom := (*decide.NoRoomError)(nil); errors.As(err, &noRoom) {
		f.Valuation = f.order
		return NoRoom, f.noRoom(noRoom)
	}
	if err != nil {
		return Failed, err
	}
	f.note(&decision)
	f.planWrites(&decision, all.active)
	return Steered, nil
}

// question is what to decide.
func (f *fall) question(all *pods) decide.Question {
	q := decide.Question{
		Active: all.active, Related: all.related, Delete: len(all.active) - int(f.To),
		// The first one is for pods of an old set that are not available.
		Tier: func(pod *corev1.Pod) int {
			if f.isOld && !decide.IsAvailable(pod, f.Set.MinReadySeconds, f.At) {
				return 0
			}
			return 1 + f.tiers[pod.UID]
		},
		Domains: f.chosen.Domains(f.nodes),
		IsFixed: func(pod *corev1.Pod) bool { return f.costs[pod.UID].Owner == cost.Other || f.theirs[pod.UID] },
		IsOurs:  func(pod *corev1.Pod) bool { return f.costs[pod.UID].Owner == cost.Ours },
		Now:     f.At,
	}
	if f.chosen.Policy.Spec.EmptyNodes == v1alpha1.EmptyNodesPrefer {
		q.Empty = &decide.EmptyNodes{
			Neighbours: f.by.NodePods.Excluding(f.Set.UID()), Domains: f.chosen.NodeDomains(f.nodes), IsFirst: func(name string) bool { return f.chosen.IsFirstNode(f.nodes(name)) },
		}
	}
	q.ForeignCosts = f.chosen.ForeignCosts()
	q.MayOverwrite = func(pod *corev1.Pod) bool { return f.costs[pod.UID].theirs != nil }
	q.ForeignCost = func(pod *corev1.Pod) string {
		if theirs := f.costs[pod.UID].theirs; theirs != nil {
			return theirs.Value
		}
		return f.Set.TemplateAnnotations[corev1.PodDeletionCost]
	}
	return q
}

// note records which pods should be deleted, and why.
func (f *fall) note(decision *decide.Decision) {
	f.Selected, f.Whys, f.Count, f.Next, f.Valuation = nil, nil, len(decision.Selected), decision.Next, f.order
	f.Rules, f.rules = map[string]int{}, map[types.UID]string{}
	for i, pod := range decision.Selected {
		why := f.why(pod, decision.Whys[i])
		f.Selected, f.Whys = append(f.Selected, cost.PodOf(pod)), append(f.Whys, why)
		f.Rules[why.Rule]++
		f.rules[pod.UID] = why.Rule
	}
	f.UnsteerableCount = len(decision.Unsteerable)
	f.Unsteerable = slices.Clone(decision.Unsteerable[:min(f.UnsteerableCount, Named)])
}

// planWrites plans the writes that a decision takes. Each selected pod gets an annotation, from which any replica learns how
// the scale-down ends, and so does each pod with a cost of an earlier request on which the plan relies, unless an earlier decision about this scale-down has
// written it.
func (f *fall) planWrites(decision *decide.Decision, active []*corev1.Pod) {
	f.writes, f.annotations, f.changed = nil, nil, nil
	changes := map[*corev1.Pod]bool{}
	add := func(pod *corev1.Pod, value *int32) {
		write, of := cost.Write{Pod: cost.PodOf(pod), Cost: value, Steered: f.steered(pod)}, f.costs[pod.UID]
		changes[pod] = true
		switch {
		case f.touched[pod.UID]:
			f.changed = errors.New("a pod is written to once for each decision")
		case value == nil:
			f.annotations = append(f.annotations, write)
		default:
			if write.Previous = of.theirs; of.Owner == cost.FromTemplate || of.Owner == cost.Other {
				write.Over = pod.ResourceVersion
			}
			f.writes = append(f.writes, write)
		}
	}
	for _, write := range decision.Writes {
		add(write.Pod, new(write.Cost))
	}
	f.news = len(f.writes)
	for _, pod := range active {
		steered, isSteered := cost.Cached(pod)
		owner, selected := f.costs[pod.UID].Owner, f.steered(pod).Selected
		// If the annotation is missing, somebody has removed it.
		isOurs := (owner == cost.Ours && (isSteered || selected) || owner == cost.FromTemplate && isSteered) && !f.theirs[pod.UID]
		unselected := steered
		unselected.Selected = false
		switch {
		case changes[pod], isSteered && steered.Serves(f.steered(pod)):
		case isOurs:
			// Kubernetes, too, takes an invalid cost for 0.
			value, _ := strconv.ParseInt(pod.Annotations[corev1.PodDeletionCost], 10, 32)
			add(pod, new(int32(value)))
		case selected, isSteered && unselected.Serves(f.steered(pod)):
			// Or an earlier decision about this scale-down selected it.
			add(pod, nil)
		}
	}
}

// steered is the annotation of a pod with a cost for this request.
func (f *fall) steered(pod *corev1.Pod) cost.Steered {
	rule, selected := f.rules[pod.UID]
	return cost.Steered{
		Set: f.Set.UID(), Count: f.To, Request: f.UID, Selected: selected, Rule: rule,
		From: f.From, Generation: f.Set.Object.GetGeneration(), First: f.First.UnixMilli(), Decision: f.Decision,
	}
}

// nodes returns nodes, as the cache has them.
func (s *Steerer) nodes(ctx context.Context) policy.Nodes {
	known := map[string]*corev1.Node{"": {}}
	return func(name string) *corev1.Node {
		if known[name] == nil {
			node := &corev1.Node{}
			// One that the cache does not have has nothing.
			_ = s.Cache.Get(ctx, types.NamespacedName{Name: name}, node, client.UnsafeDisableDeepCopy)
			known[name] = node
		}
		return known[name]
	}
}

// owned says whose a pod's cost is.
type owned struct {
	cost.Owner
	// theirs is what somebody else has written, if it can be restored: it is still there, or this program has overwritten it.
	theirs *cost.Previous
	// writer is who else has written the cost that is there, if that is known.
	writer string
	// text is that cost, as far as it may be a number.
	text string
}

// textOf is the cost of a pod, as far as it may be a number.
func textOf(pod metav1.Object) string {
	text := pod.GetAnnotations()[corev1.PodDeletionCost]
	return text[:min(len(text), len("-2147483648")+1)]
}

// whose returns that of a pod.
func (f *fall) whose(pod *corev1.Pod) owned {
	o := owned{Owner: cost.OwnerOf(pod, f.Set.TemplateAnnotations), text: strings.Clone(textOf(pod))}
	switch o.Owner {
	case cost.Ours:
		o.theirs = cost.PreviousOf(pod)
	case cost.Other:
		o.theirs, o.writer = cost.Theirs(pod), cost.WriterOf(pod)
	}
	return o
}

// noRoom says whose costs leave no room.
func (f *fall) noRoom(err *decide.NoRoomError) error {
	describe := func(pod *corev1.Pod) string {
		text := fmt.Sprintf("%s (cost %s", pod.Name, cmp.Or(textOf(pod), "0"))
		if writer := f.costs[pod.UID].writer; writer != "" {
			text += ", written by " + writer
		}
		return text + ")"
	}
	return fmt.Errorf("foreign deletion costs leave no room for a lower cost of pod %s than of pod %s", describe(err.Lower), describe(err.Higher))
}

// readValues reads the values for which the policy asks, once for a request. While it waits, it holds nothing that
// other sets need. If it fails, the rest of the policy counts.
func (f *fall) readValues(ctx context.Context) {
	if f.chosen.Preference == nil {
		return
	}
	source := f.chosen.Preference.Source
	if source.Annotation != "" {
		// The pods have them.
		f.read = map[string]values.Value{}
		return
	}
	if source.Resource != "" {
		source.Pods = f.Set.Selector.String()
	}
	if f.read, f.unread = f.by.Values.Read(ctx, f.Key.Namespace, source); f.unread != nil {
		f.Valuation = &values.Order{Why: f.unread}
	}
}

// setTier gives a pod its tier, while it is whole. A pod whose value decides has the tier for values that are too high, until rank is called.
func (f *fall) setTier(pod *corev1.Pod) {
	tier, preference := f.chosen.Tier(pod, f.nodes), f.chosen.Preference
	if preference != nil && tier == f.chosen.OfTier {
		f.valued = append(f.valued, values.Pod{UID: pod.UID, Name: pod.Name, Created: pod.CreationTimestamp.Time})
		if preference.Annotation != "" {
			if value, ok := preference.Annotated(pod, f.At); ok {
				f.read[pod.Name] = value
			}
		}
		tier = f.chosen.TierFrom(tier+1, pod, f.nodes)
	}
	f.tiers[pod.UID] = tier
}

// rank gives each value in the entry a tier of its own, before that of pods without a value, and moves the later entries behind them.
func (f *fall) rank() {
	if f.chosen.Preference == nil {
		return
	}
	f.order, f.valued = f.chosen.Preference.Order(f.valued, f.read, f.unread, f.At), nil
	for uid, tier := range f.tiers {
		if rank, isIn := f.order.Ranks[uid]; isIn {
			f.tiers[uid] = f.chosen.OfTier + rank
		} else if tier > f.chosen.OfTier {
			f.tiers[uid] = tier + f.order.Last
		}
	}
}
