package podrank

import (
	"github.com/podrank/podrank/go/internal/core"
	"github.com/podrank/podrank/go/internal/engine"
	corev1 "k8s.io/api/core/v1"
)

// A Victim is a pod to delete, and why.
type Victim struct {
	Pod *corev1.Pod
	// Before is the first pod that is kept, or nil if all pods are deleted.
	Before *corev1.Pod
	// Rule is the rule by which Pod is deleted before it. It is "" if all pods are deleted, or if every rule ties,
	// which needs equal UIDs. With [Kubernetes], it is also "" if its comparison does not put Pod before Before, which
	// can happen if one of them is possible.
	Rule Rule
	// Of and Than are the values that the rule compares, of Pod and of Before. Kind says what the numbers are. With [WithEmptyNodes],
	// tiers are those by which nodes become empty, and not those of [WithTier].
	Kind     Kind
	Of, Than int64
}

// ExplainVictims returns the pods that [PodsToDelete] returns, each with the rule by which it is deleted before the
// first pod that is kept.
func ExplainVictims(active, related []*corev1.Pod, diff int, options ...Option) ([]Victim, error) {
	w := begin("ExplainVictims", victimsApply, options)
	defer w.free()
	k := min(w.settings.capped(diff), len(active))
	if k == 0 || w.settings.err != nil {
		return nil, w.settings.err
	}
	if err := w.load("active", active, related); err != nil {
		return nil, err
	}
	if err := w.first(k, min(k+1, len(active)), active, related); err != nil {
		return nil, err
	}
	victims := make([]Victim, k)
	for i, index := range w.order[:k] {
		victims[i].Pod = active[index]
		if k == len(active) {
			continue
		}
		stays := w.order[k]
		victims[i].Before = active[stays]
		if err := w.why(&victims[i], &w.records[index], &w.records[stays]); err != nil {
			return nil, err
		}
	}
	return victims, nil
}

// why finds the rule by which a victim is deleted before the first pod that is kept.
func (w *work) why(victim *Victim, goes, stays *core.Pod) error {
	rule := Rule("")
	if w.settings.kubernetes {
		before, number, err := engine.Current.Kubernetes(goes, stays, w.options)
		if err != nil {
			return err
		}
		if before < 0 {
			rule = ruleOf(number)
		}
	}
	explanation, err := w.explain(goes, stays)
	if err != nil {
		return err
	}
	if !w.settings.kubernetes {
		rule = explanation.Rule
	}
	for _, row := range explanation.Rows {
		if row.Rule == rule {
			victim.Rule, victim.Kind, victim.Of, victim.Than = rule, row.Kind, row.A, row.B
		}
	}
	return nil
}

// Pointers returns pointers to the pods of a list, such as PodList.Items, for the functions of this package. They keep the
// list's memory alive.
func Pointers(pods []corev1.Pod) []*corev1.Pod {
	pointers := make([]*corev1.Pod, len(pods))
	for i := range pods {
		pointers[i] = &pods[i]
	}
	return pointers
}
