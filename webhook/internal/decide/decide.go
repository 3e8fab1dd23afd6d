// Package decide has all calls of podrank: which pods should be deleted, and which deletion costs make Kubernetes delete them. It only
// computes.
package decide

import (
	"cmp"
	"maps"
	"slices"
	"time"

	podrank "github.com/podrank/podrank/go"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podrank/podrank/webhook/api/v1alpha1"
	"github.com/podrank/podrank/webhook/internal/bounded"
)

type (
	// EmptyNodes is what makes whole nodes empty.
	EmptyNodes = podrank.EmptyNodes
	// A NodePod is a pod of another set.
	NodePod = podrank.Neighbour
	// A Write is a cost for a pod. If the pod is kept, the cost has to be removed again.
	Write = podrank.Change
)

// NodePods returns what counts of pods for other sets, and nothing of those that keep no node from being empty.
func NodePods(pods ...*corev1.Pod) []NodePod { return podrank.Neighbours(pods, nil) }

// A Question is what a decision depends on.
type Question struct {
	// Active are the active pods of the set, and Related the pods that count for ranks.
	Active, Related []*corev1.Pod
	// Delete is the number of pods that are deleted.
	Delete int
	// Tier is what the policy wants: pods of a lower tier are deleted first.
	Tier func(*corev1.Pod) int
	// Domains name the domains to spread over, the innermost first.
	Domains []func(*corev1.Pod) string
	// Empty is what makes whole nodes empty, or nil. The domains to spread over are then in there.
	Empty *EmptyNodes
	// IsFixed is whether a pod's cost belongs to somebody else.
	IsFixed func(*corev1.Pod) bool
	// ForeignCosts is how to treat such costs. Unless it is Keep, MayOverwrite is whether one may be overwritten if the pod is deleted.
	ForeignCosts v1alpha1.ForeignCosts
	MayOverwrite func(*corev1.Pod) bool
	// IsOurs is whether a pod's cost is removed in any case, because this program wrote it. ForeignCost is what it would be otherwise, or "".
	IsOurs      func(*corev1.Pod) bool
	ForeignCost func(*corev1.Pod) string
	Now         time.Time
}

// A Decision is an answer.
type Decision struct {
	// Selected are the pods that should be deleted, in the order in which they should.
	Selected []*corev1.Pod
	// Whys are why each of them is deleted, and Next is the name of the first pod that is kept, or "" if all are deleted.
	Whys []Why
	Next string
	// Writes are the costs to write, which take the fewest requests in all, with those that remove the costs of survivors again.
	Writes []Write
	// Unsteerable are pods that are deleted before pods that the policy prefers.
	Unsteerable []Unsteerable
}

// Unsteerable is a pod that is deleted although the policy wants another to be deleted before it.
type Unsteerable struct {
	// Pod is its name.
	Pod string
	// Rule says why: "unassigned", "phase" or "not-ready".
	Rule string
}

// NoRoomError is the error if foreign costs leave none for the selected pods: for two pods, no costs put Lower below Higher.
type NoRoomError = podrank.NoRoomError

// Version is the release of the core that decides, and its engine.
func Version() string { return podrank.LibraryVersion() + " " + podrank.Engine() }

// IsActive reports whether a pod counts as one of its set's replicas.
func IsActive(pod *corev1.Pod) bool { return podrank.IsActive(pod) }

// Slim returns what decisions read of a pod, which takes as much memory for any pod.
func Slim(pod *corev1.Pod) *corev1.Pod { return podrank.Slim(pod) }

// IsAvailable reports whether an active pod has been ready for so many seconds.
func IsAvailable(pod *corev1.Pod, minReadySeconds int32, now time.Time) bool {
	// Only an inactive pod is an error.
	_, available, _, _ := podrank.Availability([]*corev1.Pod{pod}, minReadySeconds, now)
	return available > 0
}

// Decide answers a question.
func Decide(q Question) (decision Decision, err error) {
	victims, err := q.victims()
	if err != nil {
		return decision, err
	}
	originals := make(map[types.UID]*corev1.Pod, len(q.Active))
	for _, pod := range q.Active {
		originals[pod.UID] = pod
	}
	selected := make(map[*corev1.Pod]bool, len(victims))
	for _, victim := range victims {
		pod := originals[victim.Pod.UID]
		decision.Selected, decision.Whys = append(decision.Selected, pod), append(decision.Whys, q.why(victim))
		if selected[pod] = true; victim.Before != nil {
			decision.Next = victim.Before.Name
		}
	}
	if decision.Unsteerable, err = q.unsteerable(selected); err != nil {
		return decision, err
	}
	decision.Writes, err = q.writes(selected)
	return decision, err
}

// victims are the pods that should be deleted. The costs of this program decide nothing: what made an earlier request write them does.
func (q *Question) victims() ([]podrank.Victim, error) {
	options := []podrank.Option{podrank.WithNow(q.Now), podrank.WithPodDeletionCost(q.ForeignCosts != v1alpha1.Override)}
	active, tier := q.withForeignCosts(), q.Tier
	switch {
	case q.Empty != nil:
		options = append(options, podrank.WithEmptyNodes(*q.Empty))
	case len(q.Domains) > 0 && q.ForeignCosts == v1alpha1.Follow:
		var err error
		if tier, err = q.spread(active); err != nil {
			return nil, err
		}
		options = append(options, noRanks)
	case len(q.Domains) > 0:
		options = append(options, podrank.WithSpread(q.Domains...))
	}
	return podrank.ExplainVictims(active, q.Related, q.Delete, append(options, podrank.WithTier(tier))...)
}

// unsteerable returns the selected pods for which a pod of a lower tier has to be kept.
func (q *Question) unsteerable(selected map[*corev1.Pod]bool) ([]Unsteerable, error) {
	var first *corev1.Pod
	for _, pod := range q.Active {
		if !selected[pod] && (first == nil || q.Tier(pod) < q.Tier(first)) {
			first = pod
		}
	}
	var unsteerable []Unsteerable
	for _, pod := range q.Active {
		if first == nil || !selected[pod] || q.Tier(pod) <= q.Tier(first) {
			continue
		}
		explained, err := podrank.Explain(pod, first, nil, podrank.WithNow(q.Now), podrank.WithTier(q.Tier))
		if err != nil {
			return nil, err
		}
		unsteerable = append(unsteerable, Unsteerable{pod.Name, string(explained.Rule)})
	}
	return unsteerable, nil
}

const (
	// dearest is the highest price of a change.
	dearest = 254
	// many is how many selected pods are too many to give each a cost before the deadline. Annotations without costs have more time.
	many = 200
)

// writes returns the costs with which the selected pods are deleted first. Each of these gets an annotation in any case, so that its cost takes no request of its own. A
// survivor's takes two, as it has to be removed again, unless that is due in any case. If there are many, the requests count for which the answer waits.
func (q *Question) writes(selected map[*corev1.Pod]bool) ([]Write, error) {
	survivor := dearest
	if len(selected) > many {
		survivor = 2
	}
	tier := podrank.WithTier(func(pod *corev1.Pod) int {
		if selected[pod] {
			return 0
		}
		return 1
	})
	requests := podrank.WithPrice(func(pod *corev1.Pod) int {
		switch {
		case selected[pod]:
			return 1
		case q.IsOurs(pod):
			return survivor / 2
		}
		return survivor
	})
	return podrank.Steer(q.Active, podrank.WithNow(q.Now), tier, requests, podrank.WithFixed(func(pod *corev1.Pod) bool {
		mayOverwrite := q.ForeignCosts == v1alpha1.Follow || q.ForeignCosts == v1alpha1.Override
		return q.IsFixed(pod) && !(mayOverwrite && selected[pod] && q.MayOverwrite(pod))
	}))
}

// horizon are the times after a request at which its controller may come to delete pods. Pods of different ages may change places
// from one to the next.
var horizon = []time.Duration{0, time.Second / 2, time.Second, 2 * time.Second, 4 * time.Second, 8 * time.Second}

// A Prediction says which pods Kubernetes deletes if nobody steers.
type Prediction struct {
	// Delete is the number of pods that are deleted.
	Delete int
	// Certain are deleted whenever their controller decides, soon.
	Certain Names
	// Possible are all pods that may be deleted, including the certain ones.
	Possible map[types.UID]bool
	// Whys are why the certain ones are deleted, if their controller decides immediately. A rule of "" means that no
	// single rule decides, because Kubernetes' comparison contradicts itself.
	Whys map[types.UID]Why
	// Next is the name of the first pod that is kept, or "" if chance decides about some.
	Next string
	// Chances are how likely possible pods are deleted if their controller decides immediately. There are none for a set of more than 500 pods.
	Chances map[types.UID]float64
}

// Names are those of pods, by UID: what is kept of them until their scale-down is over.
type Names map[types.UID]string

// NamesOf returns those of pods.
func NamesOf(pods []*corev1.Pod) Names {
	names := Names{}
	for _, pod := range pods {
		names[pod.UID] = pod.Name
	}
	return names
}

// Predict says which of the active pods Kubernetes deletes. related are those that count for ranks.
func Predict(active, related []*corev1.Pod, k int, now time.Time) (*Prediction, error) {
	p := &Prediction{Delete: k, Certain: NamesOf(active), Possible: map[types.UID]bool{}, Whys: map[types.UID]Why{}, Chances: map[types.UID]float64{}}
	if len(active) <= bounded.ProbabilityPods {
		_, chances, err := podrank.Probabilities(active, related, k, podrank.WithNow(now))
		if err != nil {
			return nil, err
		}
		for _, chance := range chances {
			p.Chances[chance.Pod.UID] = chance.Share
		}
	}
	for _, later := range horizon {
		settled, err := podrank.Predict(active, related, k, podrank.WithNow(now.Add(later)))
		if err != nil {
			return nil, err
		}
		for _, pod := range slices.Concat(settled.Deleted, settled.Possible) {
			p.Possible[pod.UID] = true
		}
		for _, pod := range slices.Concat(settled.Possible, settled.Kept) {
			delete(p.Certain, pod.UID)
		}
	}
	return p, p.explain(active, related, now)
}

// explain says why pods are deleted.
func (p *Prediction) explain(active, related []*corev1.Pod, now time.Time) error {
	victims, err := podrank.ExplainVictims(active, related, p.Delete, podrank.WithNow(now), podrank.Kubernetes())
	for _, victim := range victims {
		if _, isCertain := p.Certain[victim.Pod.UID]; isCertain {
			p.Whys[victim.Pod.UID] = Why{string(victim.Rule), victim.Of, victim.Than}
		}
		if len(p.Certain) == p.Delete && victim.Before != nil {
			p.Next = victim.Before.Name
		}
	}
	return err
}

// States are what Kubernetes' order depends on and may change while a pod lives, by UID.
type States map[types.UID]state

type state struct {
	node   string
	record podrank.Record
}

// StatesOf returns those of active pods. Of the other related ones, only the node counts.
func StatesOf(active, related []*corev1.Pod) States {
	states := States{}
	for _, pod := range related {
		states[pod.UID] = state{node: pod.Spec.NodeName}
	}
	for _, pod := range active {
		states[pod.UID] = state{pod.Spec.NodeName, podrank.RecordOf(pod)}
	}
	return states
}

// Wrong returns how the prediction differs from these deleted pods, a text for each pod.
func (p *Prediction) Wrong(deleted Names) (wrong []string) {
	for uid, name := range deleted {
		if !p.Possible[uid] {
			wrong = append(wrong, name+" was deleted")
		}
	}
	for uid, name := range p.Certain {
		if _, isDeleted := deleted[uid]; !isDeleted {
			wrong = append(wrong, name+" was kept")
		}
	}
	slices.Sort(wrong)
	return wrong
}

// The rules that replace those of podrank where a policy decides otherwise than Kubernetes. All other rules have
// podrank's names.
const (
	// Tier: the policy wants it. Of and Than are its tiers.
	Tier = string(podrank.RuleTier)
	// Spread: its domain has more pods left.
	Spread = "spread"
	// EmptiesNode: its node becomes empty first.
	EmptiesNode = "empty-nodes"
)

// A Why is the rule by which a pod is deleted before the first that is kept. Of and Than are what the rule looks at in the two.
type Why struct {
	Rule     string
	Of, Than int64
}

// why is why a victim is deleted, with the policy's tiers in place of those that make whole nodes empty or spread.
func (q *Question) why(victim podrank.Victim) Why {
	why := Why{string(victim.Rule), victim.Of, victim.Than}
	if victim.Rule == podrank.RuleTier {
		why.Of, why.Than = int64(q.Tier(victim.Pod)), int64(q.Tier(victim.Before))
	}
	switch isSplit := why.Rule == Tier && why.Of == why.Than; {
	case isSplit && q.Empty != nil:
		return Why{Rule: EmptiesNode}
	case isSplit, victim.Rule == podrank.RuleRank && q.Empty == nil && len(q.Domains) > 0:
		return Why{Rule: Spread}
	}
	return why
}

// withForeignCosts returns the active pods as they would be without the costs of this program.
func (q *Question) withForeignCosts() []*corev1.Pod {
	active := slices.Clone(q.Active)
	for i, pod := range active {
		if q.IsOurs(pod) {
			copied := *pod
			// "" counts as 0, as no cost does.
			copied.Annotations = map[string]string{corev1.PodDeletionCost: q.ForeignCost(pod)}
			active[i] = &copied
		}
	}
	return active
}

// noRanks are for pods whose tiers say what ranks would.
var noRanks = podrank.WithRanks(func(*corev1.Pod) int { return 0 })

// spread returns tiers of the active pods such that the spread decides first within the policy's tiers, and the costs
// after it. In Kubernetes' order, and so in podrank.WithSpread, the costs come first. Each pod comes from the domain
// that has the most remaining pods when its turn comes, so its tier is the number of pods that remain in its domain
// then, itself included.
func (q *Question) spread(active []*corev1.Pod) (func(*corev1.Pod) int, error) {
	tiers := make(map[types.UID]int, len(active))
	for _, pod := range active {
		tiers[pod.UID] = q.Tier(pod)
	}
	tier := func(pod *corev1.Pod) int { return tiers[pod.UID] }
	for _, domain := range q.Domains {
		order, err := podrank.PodsToDelete(active, nil, len(active), podrank.WithNow(q.Now), podrank.WithTier(tier), noRanks)
		if err != nil {
			return nil, err
		}
		left := map[string]int{}
		for _, pod := range active {
			left[domain(pod)]++
		}
		for _, pod := range q.Related {
			if _, isActive := tiers[pod.UID]; !isActive {
				left[domain(pod)]++
			}
		}
		type place struct{ tier, left int }
		places := make(map[types.UID]place, len(active))
		for _, pod := range order {
			places[pod.UID] = place{q.Tier(pod), left[domain(pod)]}
			left[domain(pod)]--
		}
		compare := func(a, b place) int { return cmp.Or(cmp.Compare(a.tier, b.tier), cmp.Compare(b.left, a.left)) }
		all := slices.Compact(slices.SortedFunc(maps.Values(places), compare))
		for uid, at := range places {
			tiers[uid], _ = slices.BinarySearchFunc(all, at, compare)
		}
	}
	return tier, nil
}
