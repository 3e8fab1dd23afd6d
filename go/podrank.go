// Package podrank chooses the pods to delete first when a workload scales down. It applies the rules of Kubernetes'
// ReplicaSet controller as one total order. If all UIDs differ, the victims depend on the pods alone and not on the
// list order.
//
// [PodsToDelete] drops into a controller. A [Ranker] has options for many decisions. [Explain] says why one pod is
// deleted before another, and [ExplainVictims] why each victim is deleted.
//
// Some functions are about Kubernetes itself. [Predict] says which pods kube-controller-manager would delete, and
// [Probabilities] with what probability it deletes the possible ones. [Steer] returns deletion costs that make it
// delete the pods that you select.
//
// [Plan], [Expectations], [CreateInBatches], [ClaimPod] and [StatusOf] are the other decisions of a ReplicaSet controller.
//
// Nil arguments, inactive pods, and options that a function cannot apply are errors, which errors.Is tells apart. A nil list is an empty one.
//
// With cgo on linux/amd64 and linux/arm64, the decisions are made by libpodrank, a small C library that comes with this module.
// Everywhere else, and with -tags podrank_go, they are made in plain Go. [Engine] says which one a program has.
// `make -C go compare` measures both.
package podrank

import (
	"errors"
	"slices"

	"github.com/podrank/podrank/go/internal/core"
	"github.com/podrank/podrank/go/internal/engine"
	corev1 "k8s.io/api/core/v1"
)

// PodsToDelete returns the diff pods of active to delete first, in deletion order. It returns all of them if diff is
// len(active) or more. If diff is 0 or less, it inspects no pods and returns none.
//
// It returns exactly min(diff, len(active)) pods, or the number of [WithBurst] if that is less, each of them once, or no pods and an
// error: never fewer. So a controller may wait for as many deletions, as Kubernetes' own does. If your controller cannot return
// the error, use a sort of your own then: without victims, it would wait forever.
//
// active are the workload's pods that are neither Succeeded nor Failed nor being deleted; a pod among them that is nil or
// inactive is a [PodError], and nothing is chosen. UIDs compare as text, as in Kubernetes. An empty UID, which pods in tests
// have, is the smallest. List each pod once: nothing compares the pods to find one that is there twice.
//
// related are the pods to count: the more of them are on a node, the earlier the active pods there are deleted. They
// should include the active pods. For a ReplicaSet, [RelatedPods] returns what Kubernetes counts. If your custom resource
// owns the pods, pass active. Duplicates are
// counted, so list each pod once. Inactive pods are skipped, and a nil one is a [PodError]. With [WithRanks], related
// is not read.
//
// PodsToDelete changes neither list.
func PodsToDelete(active, related []*corev1.Pod, diff int, options ...Option) ([]*corev1.Pod, error) {
	return NewRanker(options...).PodsToDelete(active, related, diff)
}

// A Ranker has options, for many decisions. The zero value has the defaults. Any number of goroutines may use one
// concurrently. It never changes, and keeps no reference to its arguments.
type Ranker struct {
	settings settings
}

// NewRanker returns a Ranker with these options. If one is nil or cannot apply, the Ranker's methods return the error.
func NewRanker(options ...Option) *Ranker {
	return &Ranker{newSettings("PodsToDelete", victimsApply, options)}
}

// PodsToDelete is as the function of this name.
func (r *Ranker) PodsToDelete(active, related []*corev1.Pod, diff int) ([]*corev1.Pod, error) {
	victims, err := r.AppendPodsToDelete(nil, active, related, diff)
	return slices.Clip(victims), err
}

// AppendPodsToDelete appends the victims of [Ranker.PodsToDelete] to a list, and returns it: in the memory of an old list, a decision
// allocates nothing. With an error the list is as it was.
func (r *Ranker) AppendPodsToDelete(victims, active, related []*corev1.Pod, diff int) ([]*corev1.Pod, error) {
	w := take(&r.settings)
	defer w.free()
	chosen, err := w.choose(active, related, diff)
	if err != nil {
		return victims, err
	}
	// The list may be in the memory of active: no pod is written before all are read.
	for _, index := range chosen {
		w.victims = append(w.victims, active[index])
	}
	return append(victims, w.victims...), nil
}

// Prediction is what kube-controller-manager would do with the pods of a scale-down.
type Prediction struct {
	// Deleted are the pods that it deletes in every list order, in the order in which they go.
	Deleted []*corev1.Pod
	// Possible are the pods of which it deletes Quota. The list order decides which, because the pods tie in everything that the
	// comparator compares, or because it contradicts itself about them.
	Possible []*corev1.Pod
	// Kept are the pods that it keeps in every list order.
	Kept []*corev1.Pod
	// Quota is the number of possible pods that it deletes.
	Quota int
}

// Predict returns which pods kube-controller-manager certainly deletes when it deletes diff of active, which it may delete,
// and which it certainly keeps.
//
// The lists and errors are those of [PodsToDelete], but Predict inspects the pods even if diff is 0 or less. For a ReplicaSet
// that nothing controls, Kubernetes counts no ranks: pass nil for related.
//
// The result holds for one sync at this time. A sync deletes at most [BurstReplicas] pods, so for a larger diff, later
// syncs can choose other pods. The result can also differ if an age reaches the next power of two in nanoseconds before the
// controller runs.
func Predict(active, related []*corev1.Pod, diff int, options ...Option) (Prediction, error) {
	w := begin("Predict", predictApply, options)
	defer w.free()
	if err := w.load("active", active, related); err != nil {
		return Prediction{}, err
	}
	k := min(w.settings.capped(diff), len(active))
	certain, possible, err := w.settle(k)
	if err != nil {
		return Prediction{}, err
	}
	return w.prediction(active, k, certain, possible), nil
}

// prediction returns the pods in w.order.
func (w *work) prediction(active []*corev1.Pod, k, certain, possible int) Prediction {
	pods := make([]*corev1.Pod, len(active))
	for i, index := range w.order {
		pods[i] = active[index]
	}
	prediction := Prediction{
		Deleted:  pods[:certain:certain],
		Possible: pods[certain : certain+possible : certain+possible],
		Kept:     pods[certain+possible:],
	}
	if possible > 0 {
		prediction.Quota = k - certain
	}
	return prediction
}

// A Probability is how likely a possible pod is deleted.
type Probability struct {
	Pod *corev1.Pod
	// Share is the share of all orders in which the controller can list the pods that has the pod deleted, from 0 to 1. A possible
	// pod that is deleted in none or in all of the lists that were looked at has 0 or 1, and is possible all the same.
	Share float64
	// Error is the standard error of Share, or 0 if Share is exact.
	Error float64
}

// Probabilities returns what [Predict] returns, and for each possible pod, in the same order, how likely kube-controller-manager deletes it.
//
// It sorts the pods as kube-controller-manager does, in many lists of random order, because nobody outside the controller can know the
// order in which it lists them. So the shares hold as long as nothing is known of the list: a controller that deletes the same
// pods twice starts from similar lists. The lists are the same in each call. The shares of all possible pods add up to Quota. They are
// exact if all possible pods relate alike to every other pod, or if there are up to 12 pods of which up to 7 are possible.
// Otherwise 4096 lists are sorted, the error is at most 0.008, and a call takes a quarter of a second for 1000 pods, and three times
// that without cgo.
func Probabilities(active, related []*corev1.Pod, diff int, options ...Option) (Prediction, []Probability, error) {
	w := begin("Probabilities", predictApply, options)
	defer w.free()
	if err := w.load("active", active, related); err != nil {
		return Prediction{}, nil, err
	}
	k := min(w.settings.capped(diff), len(active))
	w.order = room(w.order, len(active))
	probabilities := make([]core.Probability, len(active))
	certain, possible, err := engine.Current.Probabilities(w.records, w.options, k, w.order, probabilities)
	if err != nil {
		return Prediction{}, nil, err
	}
	prediction := w.prediction(active, k, certain, possible)
	shares := make([]Probability, possible)
	for i, index := range w.order[certain : certain+possible] {
		of := probabilities[index]
		shares[i] = Probability{Pod: active[index], Share: float64(of.Deleted) / float64(of.Samples), Error: float64(of.StdErrorPpm) / 1e6}
	}
	return prediction, shares, nil
}

// An Explanation says which of two pods is deleted first, and why.
type Explanation struct {
	// First is -1 if a is deleted first, 1 if b is deleted first, and 0 if every rule ties.
	First int
	// Rule is the rule that decides, or "" if every rule ties.
	Rule Rule
	// Rows has every rule's answer, in the order in which the rules apply. Later releases may add rules.
	Rows []Row
}

// A Row is what one rule says about two pods a and b.
type Row struct {
	// Rule is the rule.
	Rule Rule
	// Applies is whether the rule applies: its feature gate is on and, for "ready-time", both pods are ready.
	Applies bool
	// First is -1 if a is deleted first by this rule alone, 1 if b is deleted first, and 0 if the rule ties or does not
	// apply.
	First int
	// Decides is whether this is the rule that decides: the first whose First is not 0.
	Decides bool
	// Kind says what A and B are.
	Kind Kind
	// A and B are the values that the rule reads from the two pods.
	A, B int64
}

// A Rule is the name of a rule of the order. The constants are in the order in which the rules apply, and say which pod
// is deleted first. Later releases may add rules.
//
// The rank of a pod is the number of related pods on its node, unless [WithRanks] or [WithSpread] changes it. Ages that are between
// the same powers of two nanoseconds tie: see [WithLogarithmicScaleDown].
//
// Kubernetes' comparison differs. It knows no tiers, which are those of [WithTier]. If two ready times or two creation times differ
// and their ages tie, it compares the UIDs and skips the rules in between. It compares UIDs nowhere else, so pods that
// are equal in all else tie.
type Rule string

func ruleOf(number uint8) Rule {
	return nameOf("Rule", number, ruleNames)
}

// A Kind says what the two numbers in a [Row] are.
type Kind uint8

// The kinds.
const (
	// KindBool: 0 for no, 1 for yes.
	KindBool Kind = core.RowKindBool
	// KindPhase: 0 pending, 1 unknown, 2 running.
	KindPhase Kind = core.RowKindPhase
	// KindNumber: a cost, a rank, a count.
	KindNumber Kind = core.RowKindNumber
	// KindTime: nanoseconds since the Unix epoch, or math.MinInt64 for unset.
	KindTime Kind = core.RowKindTime
	// KindAgeBucket: the power of two that the age in nanoseconds reaches, -1 if it is not positive, or math.MinInt64 for unset.
	KindAgeBucket Kind = core.RowKindAgeBucket
	// KindUID: both are 0, read the pods.
	KindUID Kind = core.RowKindUID
)

// Explain returns which of two active pods is deleted first by the total order, with every rule's answer. related is
// the same as for [PodsToDelete]. With [WithSpread], that depends on the other active pods, too, so Explain does not
// accept it: [ExplainVictims] does.
func Explain(a, b *corev1.Pod, related []*corev1.Pod, options ...Option) (Explanation, error) {
	w := begin("Explain", explainApply, options)
	defer w.free()
	// The rows have the label's values even where the gate is off.
	w.settings.labels = true
	pods := []*corev1.Pod{a, b}
	if err := w.load("pods", pods, related); err != nil {
		if wrong := (*PodError)(nil); errors.As(err, &wrong) && wrong.List == "pods" {
			wrong.List, wrong.Index = [...]string{"a", "b"}[wrong.Index], -1
		}
		return Explanation{}, err
	}
	return w.explain(&w.records[0], &w.records[1])
}

func (w *work) explain(a, b *core.Pod) (Explanation, error) {
	var rows [core.RowMax]core.Row
	count, err := engine.Current.Explain(a, b, w.options, &rows)
	if err != nil {
		return Explanation{}, err
	}
	explanation := Explanation{Rows: make([]Row, 0, count)}
	for _, row := range rows[:count] {
		name := ruleOf(row.Rule)
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

// LibraryVersion is the release of the engine that decides in this program: see [Engine].
func LibraryVersion() string {
	return engine.Current.Version()
}

// Engine says which engine decides in this program: "libpodrank", the C library, or "plain", which is in plain Go. They give
// the same answers.
func Engine() string {
	return engine.Current.Name()
}
