package podrank

import (
	"cmp"
	"maps"
	"slices"

	"github.com/podrank/podrank/go/internal/core"
	"github.com/podrank/podrank/go/internal/engine"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// EmptyNodes says what [WithEmptyNodes] needs to know of the cluster.
type EmptyNodes struct {
	// Neighbours are the pods of all other sets: see [Neighbours].
	Neighbours []Neighbour
	// IsFirst reports whether to empty a node before equally good ones, for instance because it is cordoned. If IsFirst
	// is nil, no node has this precedence.
	IsFirst func(node string) bool
	// Domains each return the name of the domain that a node is in, the outermost first, such as its zone and then its rack.
	// Of equally good nodes, the next one is in the domain that has the most of the remaining pods.
	Domains []func(node string) string
}

// A Neighbour is an active pod of another set.
type Neighbour struct {
	// Node is the node that the pod is on.
	Node string
	// Set is the UID of the pod's controller, or that of the pod itself if it has none.
	Set types.UID
}

// Neighbours returns what [WithEmptyNodes] reads of these pods, which may be all of a cluster. It leaves out own, the
// pods of the set that scales down. It also leaves out pods that are on no node or are not active, and pods that end
// with their node: those of DaemonSets and mirror pods.
func Neighbours(pods, own []*corev1.Pod) []Neighbour {
	is := identities(own)
	var neighbours []Neighbour
	for _, pod := range pods {
		if !IsActive(pod) || pod.Spec.NodeName == "" || is[identity(pod)] {
			continue
		}
		set := pod.UID
		if owner := metav1.GetControllerOfNoCopy(pod); owner != nil {
			if owner.Kind == "DaemonSet" || owner.Kind == "Node" {
				continue
			}
			set = owner.UID
		}
		neighbours = append(neighbours, Neighbour{pod.Spec.NodeName, set})
	}
	return neighbours
}

// WithEmptyNodes deletes pods node by node, starting with the nodes that can become empty with the fewest deletions. So
// for any number of victims, no other choice that follows the rules before the tier (unassigned, pending and not ready
// pods first) and [WithTier] makes more nodes empty.
//
// A node that pods of other sets keep comes last. Of each other set, the share of its pods on a node counts, so that
// sets that are scaled independently agree on which nodes to empty. The scheduler may later assign pods to an empty
// node. Cordon it to keep it empty.
//
// It excludes [Kubernetes] and [WithSpread]. [Explain], [Predict], [Probabilities], [Steer] and [UnsteerablePods] do not accept it: give the pods of
// [PodsToDelete] a tier of their own, and Steer makes Kubernetes take them.
func WithEmptyNodes(of EmptyNodes) Option {
	of.Domains, of.Neighbours = slices.Clone(of.Domains), slices.Clone(of.Neighbours)
	return func(s *settings) {
		for _, domain := range of.Domains {
			s.needs(domain != nil, "WithEmptyNodes: Domains")
		}
		s.empty = &of
		s.given |= givenEmptyNodes
	}
}

// emptyNodes splits the tiers of the records by nodes, if that is asked for.
func (w *work) emptyNodes(active []*corev1.Pod) error {
	of := w.settings.empty
	if of == nil {
		return nil
	}
	numbers, names := of.numbers(active)
	for i, pod := range active {
		w.records[i].Node = numbers[pod.Spec.NodeName]
	}
	weights, err := of.weights(numbers)
	if err != nil {
		return err
	}
	domains, most := of.domains(names)
	return engine.Current.EmptyNodes(w.records, weights, domains, make([]uint32, len(names)+most))
}

// numbers numbers the nodes of these pods: first those that IsFirst prefers, and then by name.
func (e *EmptyNodes) numbers(active []*corev1.Pod) (map[string]uint32, []string) {
	numbers := map[string]uint32{}
	for _, pod := range active {
		if pod.Spec.NodeName != "" {
			numbers[pod.Spec.NodeName] = 1
		}
	}
	for name := range numbers {
		if e.IsFirst != nil && e.IsFirst(name) {
			numbers[name] = 0
		}
	}
	names := slices.SortedFunc(maps.Keys(numbers), func(a, b string) int {
		return cmp.Or(cmp.Compare(numbers[a], numbers[b]), cmp.Compare(a, b))
	})
	for i, name := range names {
		numbers[name] = uint32(i)
	}
	return numbers, names
}

// weights are the weights of the other sets on each node.
func (e *EmptyNodes) weights(numbers map[string]uint32) ([]uint64, error) {
	// All other nodes are as one: their pods only count in their sets.
	elsewhere := uint32(len(numbers))
	sets := map[types.UID]uint32{}
	neighbours := make([]core.Neighbour, len(e.Neighbours))
	for i, pod := range e.Neighbours {
		node, ok := numbers[pod.Node]
		if !ok {
			node = elsewhere
		}
		neighbours[i] = core.Neighbour{Set: numberOf(sets, pod.Set, 0), Node: node}
	}
	weights := make([]uint64, len(numbers)+1)
	err := engine.Current.NodeWeights(neighbours, weights)
	return weights[:len(numbers)], err
}

// domains are the numbers of the nodes' domains, for each level, and how many there are. A domain lies in one of the level before.
func (e *EmptyNodes) domains(names []string) (domains []uint32, most int) {
	within := make([]uint32, len(names))
	for _, domain := range e.Domains {
		type place struct {
			within uint32
			name   string
		}
		numbers := map[place]uint32{}
		for i, name := range names {
			within[i] = numberOf(numbers, place{within[i], domain(name)}, most)
		}
		most += len(numbers)
		domains = append(domains, within...)
	}
	return domains, most
}

// numberOf is the number of a key: a new one gets the next, and the first of all is least.
func numberOf[K comparable](numbers map[K]uint32, key K, least int) uint32 {
	number, ok := numbers[key]
	if !ok {
		number = uint32(least + len(numbers))
		numbers[key] = number
	}
	return number
}
