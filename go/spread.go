package podrank

import (
	"github.com/podrank/podrank/go/internal/core"
	"github.com/podrank/podrank/go/internal/engine"
	corev1 "k8s.io/api/core/v1"
)

// Spread counts the pods again after each victim, so that each victim comes from the domain that has the most pods at that
// moment. Kubernetes counts once: with three pods on one node and two on another, deleting three empties the first.
//
// Each function returns the name of the domain that a pod is in. Pass the innermost first, such as a pod's node and then the
// zone of that node: each victim then comes from the zone with the most pods and, within that zone, from the node with the
// most. Pods whose domain is "" share one. Without arguments, the only domain is the node.
//
// Spread has no effect together with [Kubernetes] or in [Settle], because Kubernetes does not count again.
func Spread(domains ...func(*corev1.Pod) string) Option {
	if len(domains) == 0 {
		domains = append(domains, func(pod *corev1.Pod) string { return pod.Spec.NodeName })
	}
	return func(s *settings) { s.domains = domains }
}

// spread counts the ranks of the records as Spread describes, if that option is set.
func (r *Ranker) spread(active, related []*corev1.Pod) error {
	if len(r.settings.domains) == 0 {
		return nil
	}
	own := make(map[any]bool, len(active))
	for i, pod := range active {
		own[identity(pod)] = true
		r.records[i].Rank = 0
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
	defer r.nodes.forget()
	for _, domain := range r.settings.domains {
		r.nodes.reset(len(active) + len(others))
		for i, pod := range active {
			r.records[i].Node = r.nodes.number(domain(pod))
		}
		for i, pod := range others {
			elsewhere[i].Node = r.nodes.number(domain(pod))
		}
		if err := engine.Current.Spread(r.records, elsewhere, r.settings.options(), r.nodes.counts, order); err != nil {
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
