// Package podrank chooses the pods that go first when a workload scales down: by the rules of Kubernetes' ReplicaSet
// controller, as one total order, so that the victims depend on the pods alone and not on the order of the list.
//
// [PodsToDelete] drops into a controller. A [Ranker] does the same without allocating once it is warm. [Explain] says why
// one pod goes before another, and [Settle] what kube-controller-manager would do. [Steer] makes it take the pods that you want.
//
// The rest of what that controller decides, for one of your own: [Plan], [CreateInBatches], [Expectations], [Availability]. None
// needs another.
//
// The decision is made by libpodrank, a small C library that comes with this module for linux/amd64 and linux/arm64. It needs
// cgo; on other 64-bit machines, install libpodrank and build with -tags podrank_system. Without either the package compiles,
// and whatever decides returns [ErrMissing]: see [LibraryVersion].
package podrank

import (
	"slices"

	"github.com/podrank/podrank/go/internal/cpodrank"
	corev1 "k8s.io/api/core/v1"
)

// ErrMissing is returned by whatever decides in a program that was built without libpodrank; there, no [Expectations] are ever
// set.
var ErrMissing = cpodrank.ErrMissing

// PodsToDelete returns the diff pods of active that go first, first to go first: all, in order, if diff is len(active) or more;
// none if it is 0 or less, and then nothing is looked at and nothing is an error.
//
// active are the workload's pods that are neither Succeeded nor Failed nor being deleted; a pod among them that is nil or
// inactive or whose UID is not a UUID (the empty UID of fakes is fine) is an error that names it, and nothing is chosen.
//
// related are the pods whose number on a node makes its pods go first, the active ones included: for a ReplicaSet, the pods
// that any ReplicaSet of the same controller selects. They are counted as listed: each is to be there once. nil counts none.
// Inactive pods among them are skipped.
//
// Neither list is changed.
func PodsToDelete(active, related []*corev1.Pod, diff int, options ...Option) ([]*corev1.Pod, error) {
	return NewRanker(options...).PodsToDelete(active, related, diff)
}

// A Ranker chooses pods again and again in the same memory. The zero value has the default options. It is not for use by
// several goroutines at once. It keeps hold of no pods but those that its last two calls returned.
type Ranker struct {
	settings settings
	records  []cpodrank.Record
	nodes    nodes
	order    []uint32
	scratch  []cpodrank.Scratch
	scores   []uint64
	// What the last call returned, and the one before it.
	victims, before []*corev1.Pod
	// Only so that the compiler does not drop what touch does.
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

// PodsToDelete is as the function of this name. The slice that it returns is good until the next call, which may be given it.
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
		r.scratch = room(r.scratch, k)
		if _, err := cpodrank.Select(r.records, r.settings.options(), r.order, r.scratch); err != nil {
			return nil, err
		}
	}
	for _, index := range r.order[:k] {
		r.victims = append(r.victims, active[index])
	}
	return r.victims, nil
}

// Settled is what kube-controller-manager would do.
type Settled struct {
	// Certain are the pods that go whatever the order of the controller's list, first to go first.
	Certain []*corev1.Pod
	// Contested are the pods of which Quota go, and nobody can say which: the comparator goes in a circle, and the order
	// of the list decides.
	Contested []*corev1.Pod
	// Safe are the pods that stay.
	Safe []*corev1.Pod
	// Quota is how many of the contested pods go.
	Quota int
}

// Settle tells which pods kube-controller-manager certainly deletes when it deletes diff of active, which it may delete, and
// which it keeps. Lists and errors are as for [PodsToDelete], though pods are looked at whatever diff is. For a set without a
// controller Kubernetes counts no ranks: give it no related pods.
//
// It holds for this moment: a pod whose age reaches a power of two nanoseconds before the controller looks may change its
// place.
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
	return cpodrank.Settle(r.records, r.settings.options(), k, r.order, r.scores)
}

// load makes the records of active, with their ranks among related.
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
			// Often both lists are one.
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

// room returns a slice of this length, the same memory if it is long enough.
func room[T any](slice []T, length int) []T {
	return slices.Grow(slice[:0], length)[:length]
}

// An Explanation says which of two pods goes first, and why.
type Explanation struct {
	// First is -1 if a goes first, 1 if b does, 0 if every rule ties.
	First int
	// Rule is what decides: one of those of Rows; "" if nothing does.
	Rule string
	// Rows has every rule's answer, in the order in which they are asked: "unassigned", "phase", "not-ready", "tier",
	// "deletion-cost", "rank", "preferred", "ready-time", "restarts", "sidecar-restarts", "creation-time", "uid". A release may add rules.
	Rows []Row
}

// A Row is what one rule says of two pods.
type Row struct {
	// Rule is its name.
	Rule string
	// Applies is whether it is asked at all.
	Applies bool
	// First is -1 if a goes first by this rule alone, 1 if b does, 0 if it ties or does not apply.
	First int
	// Decides is whether it settles the pair.
	Decides bool
	// Kind says what A and B are.
	Kind Kind
	// A and B are the values of the two pods that the rule looks at.
	A, B int64
}

// A Kind says what the two numbers of a [Row] are.
type Kind uint8

// The kinds.
const (
	// Bool: 0 for no, 1 for yes.
	Bool Kind = cpodrank.KindBool
	// Phase: 0 pending, 1 unknown, 2 running.
	Phase Kind = cpodrank.KindPhase
	// Number: a cost, a rank, a count.
	Number Kind = cpodrank.KindNumber
	// Time: nanoseconds since the Unix epoch, or math.MinInt64 for unset.
	Time Kind = cpodrank.KindTime
	// AgeBucket: the power of two that the age in nanoseconds reaches, -1 if it is not positive, or math.MinInt64 for unset.
	AgeBucket Kind = cpodrank.KindAgeBucket
	// UID: both are 0, read the pods.
	UID Kind = cpodrank.KindUID
)

// Explain says which of two active pods goes first by the total order, with every rule's answer. related is as for
// [PodsToDelete].
func Explain(a, b *corev1.Pod, related []*corev1.Pod, options ...Option) (Explanation, error) {
	r := NewRanker(options...)
	// The rows have the label's values even where the gate is off.
	r.settings.labels = true
	if err := r.load([]*corev1.Pod{a, b}, related); err != nil {
		return Explanation{}, err
	}
	if err := r.spread([]*corev1.Pod{a, b}, related); err != nil {
		return Explanation{}, err
	}
	var rows [cpodrank.MaxRows]cpodrank.Row
	count, err := cpodrank.Explain(&r.records[0], &r.records[1], r.settings.options(), &rows)
	if err != nil {
		return Explanation{}, err
	}
	explanation := Explanation{Rows: make([]Row, 0, count)}
	for _, row := range rows[:count] {
		name := cpodrank.RuleName(row.Rule)
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

// LibraryVersion is the release of libpodrank that is linked in, "" if none is. A controller checks it at its start, not to meet
// [ErrMissing] when it first scales down.
func LibraryVersion() string {
	return cpodrank.Version()
}
