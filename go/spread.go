package podrank

import (
	"fmt"
	"slices"

	"github.com/podrank/podrank/go/internal/core"
	"github.com/podrank/podrank/go/internal/engine"
	corev1 "k8s.io/api/core/v1"
)

// WithSpread counts anew after each pick: the next pod is always taken from where most are then. Kubernetes counts once: of three
// pods on one node and two on another, three that go empty the first.
//
// Each function returns the name of the domain that a pod is in. Pass the innermost first, such as a pod's node and then the
// zone of that node: each victim then comes from the zone with the most pods and, within that zone, from the node with the
// most. Pods whose domain is "" share one. Without arguments, the only domain is the node.
//
// With [Kubernetes] and in [Settle] it changes nothing, for Kubernetes knows nothing of it.
func WithSpread(domains ...func(*corev1.Pod) string) Option {
	domains = slices.Clone(domains)
	if len(domains) == 0 {
		domains = append(domains, func(pod *corev1.Pod) string { return pod.Spec.NodeName })
	}
	return func(s *settings) {
		if i := slices.IndexFunc(domains, func(domain func(*corev1.Pod) string) bool { return domain == nil }); i >= 0 {
			s.err = fmt.Errorf("podrank: WithSpread: domains[%d] %w", i, ErrNil)
		}
		s.domains = domains
	}
}

// spread gives the records their ranks anew, if that is asked for.
func (w *work) spread(active, related []*corev1.Pod) error {
	if len(w.settings.domains) == 0 || w.settings.ranks != nil {
		return nil
	}
	own := make(map[any]bool, len(active))
	for i, pod := range active {
		own[identity(pod)] = true
		w.records[i].Rank = 0
	}
	var others []*corev1.Pod
	var elsewhere []core.Record
	for _, pod := range related {
		if pod != nil && IsActive(pod) && !own[identity(pod)] {
			others = append(others, pod)
			elsewhere = append(elsewhere, record(pod))
		}
	}
	order := make([]uint32, len(active))
	defer w.nodes.forget()
	for _, domain := range w.settings.domains {
		w.nodes.reset(len(active) + len(others))
		for i, pod := range active {
			w.records[i].Node = w.nodes.number(domain(pod))
		}
		for i, pod := range others {
			elsewhere[i].Node = w.nodes.number(domain(pod))
		}
		if err := engine.Current.Spread(w.records, elsewhere, w.settings.options(), w.nodes.counts, order); err != nil {
			return err
		}
	}
	return nil
}

// identity identifies a pod: by its UID, which only fakes lack.
func identity(pod *corev1.Pod) any {
	if pod.UID == "" {
		return pod
	}
	return pod.UID
}

// record is what counting reads of a pod, but for its node.
func record(pod *corev1.Pod) core.Record {
	record := core.Record{ReadyTime: core.Unset, CreationTime: core.Unset}
	if pod.Spec.NodeName != "" {
		record.Flags = core.Assigned
	}
	return record
}
