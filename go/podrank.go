// Package podrank chooses the pods that go first when a workload scales down. It applies the rules of Kubernetes' ReplicaSet
// controller as one total order, so the victims depend on the pods alone and not on the list order.
//
// [PodsToDelete] drops into a controller. A [Ranker] does the same without allocating once it is warm. [Explain] says why
// one pod goes before another.
//
// Three functions are about Kubernetes itself. [Settle] says which pods kube-controller-manager would delete. [Steer] returns
// deletion costs that make it delete the pods that you want. [NextStep] predicts the next sync of a Deployment.
//
// [Plan], [CreateInBatches], [Expectations] and [Availability] are the other decisions of a ReplicaSet controller, for a
// controller of your own. They are independent of each other.
//
// libpodrank makes the decisions. This C library comes with the module for linux/amd64 and linux/arm64, and needs cgo. On
// other 64-bit machines, install libpodrank and build with -tags podrank_system. Without the library, the package compiles,
// but every decision returns [ErrMissing]: see [LibraryVersion].
package podrank

import (
	"slices"

	"github.com/podrank/podrank/go/internal/core"
	"github.com/podrank/podrank/go/internal/engine"
	corev1 "k8s.io/api/core/v1"
)

// PodsToDelete returns the diff pods of active that go first, first to go first: all, in order, if diff is len(active) or more;
// none if it is 0 or less, and then nothing is looked at and nothing is an error.
//
// active are the workload's active pods: see [IsActive]. If one of them is nil, inactive or has a UID that is not a UUID,
// PodsToDelete returns an error that names it, and no pods. The empty UID of fakes is accepted.
//
// related are the pods to count: the more of them are on a node, the earlier the active pods on that node go. They should
// include the active pods. For a ReplicaSet, [RelatedPods] returns what Kubernetes counts. Duplicates are counted, so list
// each pod once. Inactive pods are skipped.
//
// Neither list is changed.
func PodsToDelete(active, related []*corev1.Pod, diff int, options ...Option) ([]*corev1.Pod, error) {
	return NewRanker(options...).PodsToDelete(active, related, diff)
}

// A Ranker chooses pods again and again in the same memory. The zero value has the default options. Only one goroutine may
// use a Ranker at a time. It keeps references only to the pods that its last two calls returned.
type Ranker struct {
	settings settings
	records  []core.Record
	nodes    nodes
	order    []uint32
	scratch  []core.Scratch
	scores   []uint64
	// What the last call returned, and the one before it.
	victims, before []*corev1.Pod
	// Keeps the compiler from dropping what touch does.
	touched int
}

// NewRanker returns a Ranker with these options.
func NewRanker(options ...Option) *Ranker {
	r := &Ranker{}
	for _, option := range options {
		option(&r.settings)
	}
	return r
}

// PodsToDelete does what the function [PodsToDelete] does. The slice that it returns is valid until the next call, to which
// it may be passed.
func (r *Ranker) PodsToDelete(active, related []*corev1.Pod, diff int) ([]*corev1.Pod, error) {
	r.victims, r.before = r.before, r.victims
	clear(r.victims)
	r.victims = r.victims[:0]
	if diff = r.settings.capped(diff); diff == 0 {
		return nil, nil
	}
	if err := r.load(active, related); err != nil {
		return nil, err
	}
	k := min(diff, len(active))
	if r.settings.kubernetes {
		if _, _, err := r.settle(k); err != nil {
			return nil, err
		}
	} else {
		if err := r.spread(active, related); err != nil {
			return nil, err
		}
		r.order = room(r.order, k)
		if _, err := engine.Current.Select(r.records, r.settings.options(), r.order, &r.scratch); err != nil {
			return nil, err
		}
	}
	for _, index := range r.order[:k] {
		r.victims = append(r.victims, active[index])
	}
	return r.victims, nil
}

// Settled is what kube-controller-manager would do with the pods of a scale-down.
type Settled struct {
	// Certain are the pods that it deletes in every list order, the first to go first.
	Certain []*corev1.Pod
	// Contested are the pods of which it deletes Quota. The list order decides which, because the comparator is cyclic or
	// the pods tie in everything that it compares.
	Contested []*corev1.Pod
	// Safe are the pods that it keeps in every list order.
	Safe []*corev1.Pod
	// Quota is the number of contested pods that it deletes.
	Quota int
}

// Settle returns which pods kube-controller-manager certainly deletes when it deletes diff of active, which it may delete,
// and which it certainly keeps.
//
// The lists and errors are those of [PodsToDelete], but Settle inspects the pods even if diff is 0 or less. For a set without
// a controller, Kubernetes counts no ranks: pass nil for related.
//
// The result holds for one sync at this moment. A sync deletes at most [BurstReplicas] pods, so for a larger diff, later
// syncs can choose other pods. The result can also differ if an age reaches the next power of two in nanoseconds before the
// controller runs.
func Settle(active, related []*corev1.Pod, diff int, options ...Option) (Settled, error) {
	r := NewRanker(options...)
	if err := r.load(active, related); err != nil {
		return Settled{}, err
	}
	k := min(r.settings.capped(diff), len(active))
	certain, contested, err := r.settle(k)
	if err != nil {
		return Settled{}, err
	}
	pods := make([]*corev1.Pod, 0, len(active))
	for _, index := range r.order {
		pods = append(pods, active[index])
	}
	settled := Settled{
		Certain:   pods[:certain:certain],
		Contested: pods[certain : certain+contested : certain+contested],
		Safe:      pods[certain+contested:],
	}
	if contested > 0 {
		settled.Quota = k - certain
	}
	return settled, nil
}

func (r *Ranker) settle(k int) (certain, contested int, err error) {
	r.order = room(r.order, len(r.records))
	r.scores = room(r.scores, len(r.records))
	return engine.Current.Settle(r.records, r.settings.options(), k, r.order, r.scores)
}

// load makes the records of active, with ranks that count related.
func (r *Ranker) load(active, related []*corev1.Pod) error {
	r.records = room(r.records, len(active))
	r.nodes.reset(len(active))
	defer r.nodes.forget()
	for start := 0; start < len(active); start += blockSize {
		pods := active[start:min(start+blockSize, len(active))]
		r.touched += touch(pods)
		for i, pod := range pods {
			err := errInactive
			if pod != nil && IsActive(pod) {
				err = fill(&r.records[start+i], pod, r.settings.labels)
			}
			if err == nil {
				err = r.settings.setTier(&r.records[start+i], pod)
			}
			if err != nil {
				return errPod(start+i, pod, err)
			}
			r.records[start+i].Node = r.nodes.number(pod.Spec.NodeName)
		}
	}
	for i, pod := range related {
		switch {
		case i < len(active) && pod == active[i]:
			// Often both lists are the same.
			r.nodes.counts[r.records[i].Node]++
		case pod != nil && IsActive(pod):
			r.nodes.count(pod.Spec.NodeName)
		}
	}
	for i := range r.records {
		r.records[i].Rank = r.nodes.counts[r.records[i].Node]
	}
	return nil
}

// room returns a slice of this length, in the same memory if that is long enough.
func room[T any](slice []T, length int) []T {
	return slices.Grow(slice[:0], length)[:length]
}

// An Explanation says which of two pods goes first, and why.
type Explanation struct {
	// First is -1 if a goes first, 1 if b goes first, and 0 if every rule ties.
	First int
	// Rule is the name of the rule that decides, or "" if every rule ties.
	Rule string
	// Rows has every rule's answer, in the order in which the rules apply: "unassigned", "phase", "not-ready", "tier",
	// "deletion-cost", "rank", "preferred", "ready-time", "restarts", "sidecar-restarts", "creation-time", "uid". Later
	// releases may add rules.
	Rows []Row
}

// A Row is what one rule says about two pods a and b.
type Row struct {
	// Rule is the rule's name.
	Rule string
	// Applies is whether the rule applies: its feature gate is on and, for "ready-time", both pods are ready.
	Applies bool
	// First is -1 if a goes first by this rule alone, 1 if b goes first, and 0 if the rule ties or does not apply.
	First int
	// Decides is whether this is the rule that decides: the first whose First is not 0.
	Decides bool
	// Kind says what A and B are.
	Kind Kind
	// A and B are the values that the rule reads from the two pods.
	A, B int64
}

// A Kind says what the two numbers in a [Row] are.
type Kind uint8

// The kinds.
const (
	// Bool: 0 for no, 1 for yes.
	Bool Kind = core.KindBool
	// Phase: 0 pending, 1 unknown, 2 running.
	Phase Kind = core.KindPhase
	// Number: a cost, a rank, a count.
	Number Kind = core.KindNumber
	// Time: nanoseconds since the Unix epoch, or math.MinInt64 for unset.
	Time Kind = core.KindTime
	// AgeBucket: the power of two that the age in nanoseconds reaches, -1 if it is not positive, or math.MinInt64 for unset.
	AgeBucket Kind = core.KindAgeBucket
	// UID: both are 0, read the pods.
	UID Kind = core.KindUID
)

// Explain returns which of two active pods goes first by the total order, with every rule's answer. related is the same as
// for [PodsToDelete].
func Explain(a, b *corev1.Pod, related []*corev1.Pod, options ...Option) (Explanation, error) {
	r := NewRanker(options...)
	// The rows have the label's values even if the gate is off.
	r.settings.labels = true
	if err := r.load([]*corev1.Pod{a, b}, related); err != nil {
		return Explanation{}, err
	}
	if err := r.spread([]*corev1.Pod{a, b}, related); err != nil {
		return Explanation{}, err
	}
	var rows [core.MaxRows]core.Row
	count, err := engine.Current.Explain(&r.records[0], &r.records[1], r.settings.options(), &rows)
	if err != nil {
		return Explanation{}, err
	}
	explanation := Explanation{Rows: make([]Row, 0, count)}
	for _, row := range rows[:count] {
		name := engine.Current.RuleName(row.Rule)
		explanation.Rows = append(explanation.Rows, Row{
			Rule: name, Applies: row.Applies != 0, First: int(row.Ordering), Decides: row.Decides != 0,
			Kind: Kind(row.Kind), A: row.A, B: row.B,
		})
		if row.Decides != 0 {
			explanation.First, explanation.Rule = int(row.Ordering), name
		}
	}
	return explanation, nil
}

// LibraryVersion returns the release of libpodrank that is linked in, or "" if none is. Check it when your controller starts,
// so that [ErrMissing] does not first appear when it scales down.
func LibraryVersion() string {
	return engine.Current.Version()
}
