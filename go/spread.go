package podrank

import (
	"github.com/podrank/podrank/go/internal/cpodrank"
	corev1 "k8s.io/api/core/v1"
)

// Spread counts anew after each pick: the next pod is always taken from where most are then. Kubernetes counts once: of three
// pods on one node and two on another, three that go empty the first.
//
// Each domain says where a pod is, the innermost first, such as its node and then the zone of its node; those of "" are
// together. With none, it is the node alone. A zone sends the pod that its own nodes would, and the zone with the most pods gives the next.
//
// With [Kubernetes] and in [Settle] it changes nothing, for Kubernetes knows nothing of it.
func Spread(domains ...func(*corev1.Pod) string) Option {
	if len(domains) == 0 {
		domains = append(domains, func(pod *corev1.Pod) string { return pod.Spec.NodeName })
	}
	return func(s *settings) { s.domains = domains }
}

// spread gives the records their ranks anew, if that is asked for.
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
	var elsewhere []cpodrank.Record
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
		if err := cpodrank.Spread(r.records, elsewhere, r.settings.options(), r.nodes.counts, order); err != nil {
			return err
		}
	}
	return nil
}

// identity is what tells a pod from all others: its UID, which only fakes lack.
func identity(pod *corev1.Pod) any {
	if pod.UID == "" {
		return pod
	}
	return pod.UID
}

// record is what counting reads of a pod, but for its node.
func record(pod *corev1.Pod) cpodrank.Record {
	record := cpodrank.Record{ReadyTime: cpodrank.Unset, CreationTime: cpodrank.Unset}
	if pod.Spec.NodeName != "" {
		record.Flags = cpodrank.Assigned
	}
	return record
}
