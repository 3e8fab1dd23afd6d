package steer

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podrank/podrank/webhook/api/v1alpha1"
	"github.com/podrank/podrank/webhook/internal/bounded"
	"github.com/podrank/podrank/webhook/internal/cost"
	"github.com/podrank/podrank/webhook/internal/decide"
	"github.com/podrank/podrank/webhook/internal/values"
	"github.com/podrank/podrank/webhook/internal/workload"
)

// A Result is what became of a request. Its text is the reason in events and conditions, and a label of metrics.
type Result string

// The results. All but the first few are failures. Whatever was written by then stands, until the leader finds out what became of it.
const (
	// Steered: the selected pods have the lowest costs, and the controller has seen them.
	Steered Result = "Steered"
	// Unconfirmed: the selected pods have the lowest costs, but the deadline came before it was clear that the controller has seen
	// them. The comparison tells whether it had.
	Unconfirmed Result = "Unconfirmed"
	// Unsettled: the request was let through with the costs that stand, because pods changed while costs were written and after that, or because of an error.
	Unsettled Result = "Unsettled"
	// Repeated: the request repeats one about which this replica has just decided, and was let through with what stands.
	Repeated Result = "Repeated"
	// Observed: the policy only observes which pods Kubernetes deletes.
	Observed Result = "Observed"
	// NoPolicy: no policy selects the set.
	NoPolicy Result = "NoPolicy"
	// NothingToDo: no pod is deleted, or all are.
	NothingToDo Result = "NothingToDo"
	// DryRun: the request is a dry run, which must have no effects.
	DryRun Result = "DryRun"
	// RolloutIgnored: a rollout may shrink the set, and the policy says to leave that alone.
	RolloutIgnored Result = "RolloutIgnored"
	// Stale: the request is about an earlier state of the set. If it is one of the API server, that will notice, and ask again.
	Stale Result = "Stale"
	// StoodAside: kubectl podrank is steering this set.
	StoodAside Result = "StoodAside"

	// NoRoom: foreign costs leave none for the selected pods.
	NoRoom Result = "NoRoom"
	// DeadlineExceeded: there was no time left.
	DeadlineExceeded Result = "DeadlineExceeded"
	// TooMany: more requests came from the namespace than are decided.
	TooMany Result = "TooMany"
	// CircuitOpen: the last decisions of the namespace ran out of time, so nothing is decided there for a while.
	CircuitOpen Result = "CircuitOpen"
	// Failed: the API server or the decision returned an error.
	Failed Result = "Failed"
)

// IsFailure reports whether something was to be steered and was not.
func (r Result) IsFailure() bool {
	return slices.Contains([]Result{Unsettled, NoRoom, DeadlineExceeded, TooMany, CircuitOpen, Failed}, r)
}

// Unsteered are the results of scale-downs that a policy may cover and that were not steered. Each of them is in the log and in an alert.
var Unsteered = []Result{Unsettled, NoRoom, DeadlineExceeded, TooMany, CircuitOpen, StoodAside, Stale, Failed}

// Concerns reports whether the result is about a policy, and so worth telling. To tell of each of too many would be too much.
func (r Result) Concerns() bool {
	return r.Holds() || r == StoodAside || r.IsFailure() && r != TooMany && r != CircuitOpen
}

// Holds reports whether the program keeps the costs of a request until its pods have been deleted.
func (r Result) Holds() bool { return r == Steered || r == Unconfirmed || r == Unsettled }

// A Request is one that lowers a count.
type Request struct {
	// UID is the UID of the admission request.
	UID      types.UID
	Kind     workload.Kind
	Key      types.NamespacedName
	From, To int32
	DryRun   bool
	// SetUID and SetVersion are the UID and the resource version of the set that is scaled down.
	SetUID     types.UID
	SetVersion string
	// IsScale reports whether this request changes the replicas of the set's Deployment, so that it is not a step of a
	// rollout.
	IsScale bool
}

// isAbout reports whether the request was made for this state of a set. Other requests, such as forged ones, change
// nothing.
func (r *Request) isAbout(set *workload.Set) bool {
	return r.SetUID == set.UID() && r.SetVersion == set.Object.GetResourceVersion() && r.From == set.Replicas
}

// An Outcome says what became of a request.
type Outcome struct {
	Request
	Result  Result
	Message string
	// At is when the request came, First when the first about the same scale-down did, and Decision how many decisions about it there were.
	At, First time.Time
	Decision  int
	// Generation is that of the set, as far as it is known.
	Generation int64
	// Set is nil if it was not read, and Policy if none applies. Both are only what reports need.
	Set    *workload.Set
	Policy *v1alpha1.ScaleDownPolicy
	// Selected are the pods that should be deleted, and Whys why each of them is. Count is how many there are, and Rules how many by each rule, also when they are
	// forgotten. Next is the first pod that is kept.
	Selected []cost.Pod
	Whys     []Why
	Count    int
	Rules    map[string]int
	Next     string
	// Written is how many costs were written, and Unannotated how many of the selected pods have no annotation, since the deadline came before.
	Written, Unannotated int
	// Unsteerable are the first of the unsteerable pods, and UnsteerableCount is how many there are.
	Unsteerable      []decide.Unsteerable
	UnsteerableCount int
	// Valuation is what was read of pods, if the policy asks for it. The values of single pods are forgotten.
	Valuation *values.Order
	// What is known of a request that is only observed.
	*Observation
}

// Forget forgets what nobody needs once the request is answered: it may take some time until it is reported.
func (o *Outcome) Forget() {
	kept := 0
	if o.Result.Holds() {
		kept = min(len(o.Selected), bounded.RecordPods)
	}
	o.Selected, o.Whys = slices.Clone(o.Selected[:kept]), slices.Clone(o.Whys[:kept])
	if o.Valuation != nil {
		o.Valuation.Ranks, o.Valuation.Values = nil, nil
	}
	if o.Set != nil && o.Result != Observed {
		o.Set.Selector = nil
	}
}

// The rules that a policy adds. A preference of the policy is "deleteFirst[0]" and so on. All other rules are those of
// decide.
const (
	// NotAvailable: the pod of an old ReplicaSet is not available.
	NotAvailable = "not-available"
	// ByValue: within an entry, the pod is deleted by its value.
	ByValue = "value"
	// noRule is for pods of one UID, which no API server has.
	noRule = "uid"
)

// A Why is the rule by which a pod is deleted before the first that is kept.
type Why struct {
	Rule string
	// Value is the value of the pod, if the rule compares values.
	Value *float64
}

// why turns tiers into what the policy says. The first tier is not one of the policy: see question.
func (f *fall) why(pod *corev1.Pod, why decide.Why) Why {
	if why.Rule != decide.Tier {
		return Why{Rule: cmp.Or(why.Rule, noRule)}
	}
	if why.Of == 0 {
		return Why{Rule: NotAvailable}
	}
	if of := f.entry(int(why.Of) - 1); of < f.entry(int(why.Than)-1) {
		return Why{Rule: fmt.Sprintf("deleteFirst[%d]", of)}
	}
	// Those without a value go last in their entry.
	return Why{Rule: ByValue, Value: new(f.order.Values[pod.UID])}
}

// entry is the entry of the policy whose pods have a tier: rank has moved those behind the values.
func (f *fall) entry(tier int) int {
	if f.order == nil || tier <= f.chosen.OfTier {
		return tier
	}
	return max(f.chosen.OfTier, tier-f.order.Last)
}
