package podrank

import (
	"fmt"
	"slices"

	"github.com/podrank/podrank/go/internal/core"
	"github.com/podrank/podrank/go/internal/engine"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

// WithSpread counts again after each pick. Of the pods that tie in the rules before the rank, the next victim is on the
// node that has the most pods then. Kubernetes counts only once: of three pods on one node and two on another, it
// deletes the three first.
//
// Each function returns the name of the domain that a pod is in: a node or a group of nodes. Pass the innermost first, such as a pod's node and then the
// zone of that node: each such victim then comes from the zone with the most pods and, within that zone, from the node with the
// most. Pods whose domain is "" share one. Pods without a node share another one, and no function is called for them. Without
// arguments, the only domain is the node.
//
// Kubernetes cannot do this, so WithSpread excludes [Kubernetes]. It also excludes [WithRanks] and [WithEmptyNodes]. [Explain],
// [Predict], [Probabilities], [Steer] and [UnsteerablePods] do not accept it.
func WithSpread(domains ...func(*corev1.Pod) string) Option {
	domains = slices.Clone(domains)
	if len(domains) == 0 {
		domains = append(domains, func(pod *corev1.Pod) string { return pod.Spec.NodeName })
	}
	return func(s *settings) {
		for i, domain := range domains {
			s.needs(domain != nil, fmt.Sprintf("WithSpread: domains[%d]", i))
		}
		s.domains = domains
		s.given |= givenSpread
	}
}

// spread computes the ranks of the records again, if [WithSpread] is given.
func (w *work) spread(active, related []*corev1.Pod) error {
	if len(w.settings.domains) == 0 {
		return nil
	}
	own := identities(active)
	for i := range active {
		w.records[i].Rank = 0
	}
	var others []*corev1.Pod
	var elsewhere []core.Pod
	for _, pod := range related {
		if IsActive(pod) && !own[identity(pod)] {
			others = append(others, pod)
			var counted core.Pod
			fill(&counted, pod, false)
			elsewhere = append(elsewhere, counted)
		}
	}
	domainOf := func(domain func(*corev1.Pod) string, pod *corev1.Pod) uint32 {
		if pod.Spec.NodeName == "" {
			return 0
		}
		return w.nodes.number(domain(pod))
	}
	order := make([]uint32, len(active))
	defer w.nodes.forget()
	for _, domain := range w.settings.domains {
		w.nodes.reset(len(active) + len(others))
		for i, pod := range active {
			w.records[i].Node = domainOf(domain, pod)
		}
		for i, pod := range others {
			elsewhere[i].Node = domainOf(domain, pod)
		}
		if err := engine.Current.Spread(w.records, elsewhere, w.options, w.nodes.counts, order); err != nil {
			return err
		}
	}
	return nil
}

// identity identifies a pod, which may come from another list than its like: by its UID or, without one, as fakes are, by its
// namespace and name.
func identity(pod *corev1.Pod) any {
	switch {
	case pod.UID != "":
		return pod.UID
	case pod.Name != "":
		return types.NamespacedName{Namespace: pod.Namespace, Name: pod.Name}
	}
	return pod
}

// identities are those of these pods.
func identities(pods []*corev1.Pod) map[any]bool {
	are := make(map[any]bool, len(pods))
	for _, pod := range pods {
		if pod != nil {
			are[identity(pod)] = true
		}
	}
	return are
}
