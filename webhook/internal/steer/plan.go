package steer

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/podrank/podrank/webhook/internal/cost"
	"github.com/podrank/podrank/webhook/internal/decide"
	"github.com/podrank/podrank/webhook/internal/policy"
	"github.com/podrank/podrank/webhook/internal/values"
)

const (
	// attempts is how often a plan is made anew because pods changed while their costs were written.
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
	// tiers are those of pods, and costs whose their costs are.
	tiers map[types.UID]int
	costs map[types.UID]owned
	// rules are by which the pods go that should.
	rules map[types.UID]string
	// theirs are the pods whose cost somebody else has written meanwhile, written those with a new cost, and undone those that have an entry in Undo.
	theirs, written, undone map[types.UID]bool
	// writes are the costs to write, of which the first so many are new. The others only get a new mark.
	writes []cost.Write
	news   int
}

// prepare reads what is read once.
func (f *fall) prepare(ctx context.Context) (Result, error) {
	if f.chosen.Policy.Spec.EmptyNodes {
		if err := f.by.Neighbours.Wait(ctx); err != nil {
			return DeadlineExceeded, err
		}
	}
	f.nodes = f.by.nodes(ctx)
	f.readValues(ctx)
	f.theirs, f.written, f.undone = map[types.UID]bool{}, map[types.UID]bool{}, map[types.UID]bool{}
	return Steered, nil
}

// write plans and writes costs, anew if pods change meanwhile.
func (f *fall) write(ctx context.Context) (Result, error) {
	var changed error
	for range attempts {
		if result, err := f.choosePods(ctx); result != Steered {
			return result, err
		}
		unlock, err := f.by.Limits.writing.Lock(ctx, f.Key.Namespace)
		if err != nil {
			return Failed, err
		}
		errs := f.by.Costs.Write(ctx, f.writes)
		unlock()
		changed = nil
		var failed error
		for i, err := range errs {
			uid := f.writes[i].Pod.UID
			switch {
			case err == nil:
				if i < f.news {
					f.written[uid] = true
				}
				continue
			case errors.Is(err, cost.ErrTheirs):
				f.theirs[uid] = true
			case !errors.Is(err, cost.ErrGone):
				failed = err
			}
			changed = err
		}
		f.Written = len(f.written)
		if failed != nil {
			return Failed, failed
		}
		if changed == nil {
			return Steered, nil
		}
	}
	return Conflict, fmt.Errorf("pods changed %d times while their costs were written: %w", attempts, changed)
}

// choosePods decides which pods should go, as they are now, and which costs to write for that. The result is Steered if that is known. What it reads is
// forgotten when it returns.
func (f *fall) choosePods(ctx context.Context) (Result, error) {
	end, err := f.by.Limits.turns.Lock(ctx, f.Key.Namespace)
	if err != nil {
		return Failed, err
	}
	defer end()
	ofTerminal := ""
	f.costs, f.tiers = map[types.UID]owned{}, map[types.UID]int{}
	ordering := f.ordering()
	all, err := f.by.list(ctx, f.by.Live, toDecide, f.Set, func(pod *corev1.Pod) {
		f.tiers[pod.UID] = f.chosen.Tier(pod, f.nodes)
		ordering.visit(pod)
		f.costs[pod.UID] = f.whose(pod)
		if f.costs[pod.UID].Owner == cost.OfTerminal {
			ofTerminal = pod.Name
		}
	})
	if err != nil {
		return why(err), err
	}
	defer all.forget()
	ordering.rank()
	switch {
	case len(all.active) <= int(f.To):
		return NothingToDo, nil
	case ofTerminal != "":
		return StoodAside, fmt.Errorf("kubectl podrank steers this set: pod %s has a deletion cost of it", ofTerminal)
	}
	alone := f.by.Live.Alone
	if f.chosen.Policy.Spec.EmptyNodes {
		alone = f.by.Limits.empty
	}
	var decision decide.Decision
	err = alone(ctx, func() (err error) {
		decision, err = decide.Decide(f.question(all))
		return err
	})
	if noRoom := (*decide.NoRoomError)(nil); errors.As(err, &noRoom) {
		ordering.note(&decision)
		return NoRoom, f.noRoom(noRoom)
	}
	if err != nil {
		return Failed, err
	}
	f.noteWhys(&decision, ordering)
	f.note(&decision, all.active)
	ordering.note(&decision)
	return Steered, nil
}

// question is what to decide.
func (f *fall) question(all *pods) decide.Question {
	q := decide.Question{
		Active: all.active, Related: all.related, Delete: len(all.active) - int(f.To),
		Tier:              func(pod *corev1.Pod) int { return f.tiers[pod.UID] },
		Domains:           f.chosen.Domains(f.nodes),
		NotAvailableFirst: f.isOld, MinReadySeconds: f.Set.MinReadySeconds,
		IsFixed: func(pod *corev1.Pod) bool { return f.costs[pod.UID].Owner == cost.Other || f.theirs[pod.UID] },
		IsOurs:  func(pod *corev1.Pod) bool { return f.costs[pod.UID].Owner == cost.Ours },
		Now:     f.At,
	}
	if f.chosen.Policy.Spec.EmptyNodes {
		q.Empty = &decide.EmptyNodes{
			Neighbours: f.by.Neighbours.Others(f.Set.UID()), Domains: f.chosen.NodeDomains(f.nodes), IsFirst: func(name string) bool { return f.chosen.IsFirstNode(f.nodes(name)) },
		}
	}
	q.Others = f.chosen.Others()
	q.MayOverwrite = func(pod *corev1.Pod) bool { return f.costs[pod.UID].theirs != nil }
	q.CostOfOthers = func(pod *corev1.Pod) string { return f.costs[pod.UID].of(pod) }
	return q
}

// noteWhys notes which pods should go, and why.
func (f *fall) noteWhys(decision *decide.Decision, ordering *ordering) {
	f.Wanted, f.Whys, f.Count, f.Next = nil, nil, len(decision.Wanted), decision.Next
	f.Rules, f.rules = map[string]int{}, map[types.UID]string{}
	for i, pod := range decision.Wanted {
		why := ordering.why(pod, decision.Whys[i])
		f.Wanted, f.Whys = append(f.Wanted, cost.PodOf(pod)), append(f.Whys, why)
		f.Rules[why.Rule]++
		f.rules[pod.UID] = why.Rule
	}
}

// note notes what was decided besides, and the writes that it takes.
func (f *fall) note(decision *decide.Decision, active []*corev1.Pod) {
	f.Blocked, f.Blocks = slices.Clone(decision.Blocked[:min(len(decision.Blocked), Named)]), map[string]int{}
	for _, blocked := range decision.Blocked {
		f.Blocks[blocked.Rule]++
	}
	f.writes, f.news = nil, len(decision.Writes)
	for _, planned := range slices.Concat(decision.Writes, f.relied(decision, active)) {
		pod := planned.Pod
		write := cost.Write{Pod: cost.PodOf(pod), Cost: planned.Cost, Mark: f.mark(pod), Previous: f.costs[pod.UID].theirs}
		if owner := f.costs[pod.UID].Owner; owner == cost.FromTemplate || owner == cost.Other {
			write.Over = pod.ResourceVersion
		}
		f.writes = append(f.writes, write)
		// Also if the answer is lost: the write may have been done. What was there before the first attempt counts.
		if !f.undone[pod.UID] {
			f.undone[pod.UID] = true
			f.Undo = append(f.Undo, cost.Undo{Pod: write.Pod, Mark: write.Mark, Before: cost.Before(pod, f.costs[pod.UID].Owner, f.Set.TemplateAnnotations)})
		}
	}
}

// relied returns the costs of earlier requests that stay as they are. The plan relies on them, so they get this request's mark.
// The mark of an earlier attempt may have to change, too.
func (f *fall) relied(decision *decide.Decision, active []*corev1.Pod) (relied []decide.Write) {
	wanted, changes := map[*corev1.Pod]bool{}, map[*corev1.Pod]bool{}
	for _, pod := range decision.Wanted {
		wanted[pod] = true
	}
	for _, write := range decision.Writes {
		changes[write.Pod] = true
	}
	for _, pod := range active {
		mark, isMarked := cost.Cached(pod)
		owner := f.costs[pod.UID].Owner
		isOurs := isMarked && (owner == cost.Ours || owner == cost.FromTemplate) && !f.theirs[pod.UID]
		if isOurs && !changes[pod] && mark != f.mark(pod) {
			// Kubernetes, too, takes an invalid cost for 0.
			value, _ := strconv.ParseInt(pod.Annotations[corev1.PodDeletionCost], 10, 32)
			relied = append(relied, decide.Write{Pod: pod, Cost: int32(value), Goes: wanted[pod]})
		}
	}
	return relied
}

// mark is that of a pod with a cost for this request.
func (f *fall) mark(pod *corev1.Pod) cost.Mark {
	rule, goes := f.rules[pod.UID]
	return cost.Mark{Set: f.Set.UID(), Count: f.To, Request: f.UID, Goes: goes, Rule: rule}
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
