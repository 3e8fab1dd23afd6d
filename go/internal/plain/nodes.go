package plain

import (
	"cmp"
	"errors"
	"math"
	"math/bits"
	"slices"

	"github.com/podrank/podrank/go/internal/core"
)

// Spread gives each pod as its rank the number of pods on its node that are not deleted yet when its turn comes, if
// one pod is deleted at a time.
func (Engine) Spread(records, others []core.Pod, options core.Options, counts, _ []uint32) error {
	clear(counts)
	unassigned := uint32(0)
	countOf := func(pod *core.Pod) *uint32 {
		if !isAssigned(pod) {
			return &unassigned
		}
		return &counts[pod.Node]
	}
	for _, list := range [...][]core.Pod{records, others} {
		for i := range list {
			*countOf(&list[i])++
		}
	}
	if len(records) == 0 {
		return nil
	}
	p, list := policyOf(options), make([]head, len(records))
	for i := range list {
		list[i] = p.headOf(records, uint32(i))
	}
	p.sortFirst(records, list, len(list))
	for i := range list {
		pod := &records[list[i].index()]
		count := countOf(pod)
		pod.Rank = *count
		*count--
	}
	return nil
}

// whole is the weight of a whole set.
const whole = 1 << 32

// NodeWeights adds the weights of the sets. Each of them weighs one in all, however many pods it has, so only 2^32
// sets would be too much for 64 bits.
func (Engine) NodeWeights(neighbours []core.Neighbour, weights []uint64) error {
	slices.SortFunc(neighbours, func(a, b core.Neighbour) int {
		return cmp.Or(cmp.Compare(a.Set, b.Set), cmp.Compare(a.Node, b.Node))
	})
	sameSet := func(a, b *core.Neighbour) bool { return a.Set == b.Set }
	sameNode := func(a, b *core.Neighbour) bool { return a.Node == b.Node }
	eachRun(neighbours, sameSet, func(_ int, set []core.Neighbour) {
		eachRun(set, sameNode, func(_ int, onNode []core.Neighbour) {
			weights[onNode[0].Node] += uint64(len(onNode)) * whole / uint64(len(set))
		})
	})
	return nil
}

// A nodePod is a pod, and what decides when its node is emptied.
type nodePod struct {
	class uint64
	tier  uint16
	// node is the number of the node, or noNode.
	node, index uint32
	// rest is the weight of the pods on the node that are not of this class and tier, and own is the number of those
	// that are.
	rest uint64
	own  uint32
	// domain is how many pods the node's domain has before the node is emptied.
	domain uint32
	// position is that of the node.
	position int
}

const noNode = math.MaxUint32

func isAlike(a, b *nodePod) bool  { return a.class == b.class && a.tier == b.tier }
func sameNode(a, b *nodePod) bool { return a.node == b.node }

// A nodeMap has for each node how many pods of the set it has, and for each level of domains the domain of each node
// and how many pods each domain has.
type nodeMap struct {
	weights  []uint64
	pods     []uint32
	levels   [][]uint32
	inDomain map[uint32]uint32
}

// EmptyNodes empties the nodes of one class and tier one after the other. Deletions continue on one
// node until it is empty, because its remainder only shrinks. So the order of the nodes is known before the first pod
// is deleted.
func (Engine) EmptyNodes(records []core.Pod, weights []uint64, domains, _ []uint32) error {
	pods := make([]nodePod, len(records))
	for i := range records {
		pod := &records[i]
		pods[i] = nodePod{class: class(pod), tier: pod.Tier, node: noNode, index: uint32(i)}
		if isAssigned(pod) {
			pods[i].node = pod.Node
		}
	}
	m := newNodeMap(pods, weights, domains)
	slices.SortFunc(pods, func(a, b nodePod) int {
		return cmp.Or(cmp.Compare(a.class, b.class), cmp.Compare(a.tier, b.tier), cmp.Compare(a.node, b.node))
	})
	eachRun(pods, isAlike, func(_ int, alike []nodePod) {
		if alike[0].node != noNode {
			m.empty(alike)
		}
	})
	return writeTiers(records, pods)
}

func newNodeMap(pods []nodePod, weights []uint64, domains []uint32) *nodeMap {
	m := &nodeMap{weights: weights, pods: make([]uint32, len(weights)), inDomain: map[uint32]uint32{}}
	if len(weights) > 0 {
		m.levels = slices.Collect(slices.Chunk(domains, len(weights)))
	}
	for i := range pods {
		if node := pods[i].node; node != noNode {
			m.pods[node]++
			for _, level := range m.levels {
				m.inDomain[level[node]]++
			}
		}
	}
	return m
}

// empty finds the positions of the nodes of these pods, which are sorted by node.
func (m *nodeMap) empty(alike []nodePod) {
	eachRun(alike, sameNode, func(_ int, onNode []nodePod) {
		node, own := onNode[0].node, uint32(len(onNode))
		m.pods[node] -= own
		// Each pod of the set that is deleted later weighs like a whole set.
		rest, overflow := bits.Add64(m.weights[node], uint64(m.pods[node])*whole, 0)
		if overflow != 0 {
			rest = math.MaxUint64
		}
		for i := range onNode {
			onNode[i].rest, onNode[i].own = rest, own
		}
	})
	slices.SortFunc(alike, func(a, b nodePod) int {
		return cmp.Or(cmp.Compare(a.rest, b.rest), cmp.Compare(a.own, b.own), cmp.Compare(a.node, b.node))
	})
	equal := func(a, b *nodePod) bool { return a.rest == b.rest && a.own == b.own }
	eachRun(alike, equal, func(_ int, equal []nodePod) {
		for _, level := range slices.Backward(m.levels) {
			m.alternate(equal, level)
		}
	})
	eachRun(alike, sameNode, func(position int, onNode []nodePod) {
		for i := range onNode {
			onNode[i].position = position
		}
	})
}

// alternate sorts nodes that have as many pods each, say m, by how many pods their domains have when their turn
// comes: a domain of n pods has n before its first node, n-m before its second one, and so on.
func (m *nodeMap) alternate(nodes []nodePod, level []uint32) {
	eachRun(nodes, sameNode, func(position int, onNode []nodePod) {
		domain := level[onNode[0].node]
		for i := range onNode {
			onNode[i].domain, onNode[i].position = m.inDomain[domain], position
		}
		m.inDomain[domain] -= onNode[0].own
	})
	slices.SortFunc(nodes, func(a, b nodePod) int {
		return cmp.Or(cmp.Compare(b.domain, a.domain), cmp.Compare(a.position, b.position))
	})
}

// writeTiers gives the pods of each tier, class and node a tier of their own. Pods of a lower tier get a lower one,
// whatever their class.
func writeTiers(records []core.Pod, pods []nodePod) error {
	slices.SortFunc(pods, func(a, b nodePod) int {
		return cmp.Or(cmp.Compare(a.tier, b.tier), cmp.Compare(a.class, b.class), cmp.Compare(a.position, b.position))
	})
	together := func(a, b *nodePod) bool { return isAlike(a, b) && a.position == b.position }
	last := 0
	eachRun(pods, together, func(tier int, _ []nodePod) { last = tier })
	if last > math.MaxUint16 {
		return errors.New("podrank: the pods would need more than 65536 tiers")
	}
	eachRun(pods, together, func(tier int, run []nodePod) {
		for i := range run {
			records[run[i].index].Tier = uint16(tier)
		}
	})
	return nil
}
