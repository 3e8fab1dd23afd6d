package plain

import (
	"cmp"

	"github.com/podrank/podrank/go/internal/core"
)

// kubernetesAge is age with Kubernetes' buckets, int64(math.Log2(float64(nanoseconds))). These begin below the power
// of two: the last w ns before 2^e belong to the bucket of e, where w is 45 if e is 54, and twice as much for each
// next e. judge/code compares this with Go's logarithm.
func (p *policy) kubernetesAge(time int64) uint64 {
	age := p.age(time)
	if !p.hasBuckets || age < 2 {
		return age
	}
	e := int(age) - 1 // of the next power of two
	early := uint64(45) << max(e-54, 0) >> max(54-e, 0)
	if p.elapsed(time) >= 1<<e-early {
		age++
	}
	return age
}

// Kubernetes compares two pods as kube-controller-manager does. It differs from the order: there are no tiers and no
// preferred pods, two different times in one bucket are decided by the UIDs, and nothing is compared after the
// creation time. So it is not an order: docs/how-kubernetes-picks-pods.md shows three pods in a cycle.
func (Engine) Kubernetes(a, b *core.Pod, options core.Options) (first int, rule uint8, err error) {
	p := policyOf(options)
	for _, rule := range rules {
		switch rule {
		case core.RuleTier, core.RulePreferred, core.RuleUID:
			continue
		case core.RuleReadyTime:
			if isReady(a) && isReady(b) {
				first, rule = p.compareTimes(rule, a, b, a.ReadyTime, b.ReadyTime)
			}
		case core.RuleCreationTime:
			first, rule = p.compareTimes(rule, a, b, a.CreationTime, b.CreationTime)
		default:
			first = p.compareBy(rule, a, b)
		}
		if first != 0 {
			return first, rule, nil
		}
		if rule == core.RuleUID {
			break // Equal UIDs end the comparison.
		}
	}
	return 0, core.RuleNone, nil
}

// compareTimes compares two times by their buckets, and if these are equal but the times are not, the UIDs.
func (p *policy) compareTimes(rule uint8, a, b *core.Pod, aTime, bTime int64) (first int, decides uint8) {
	if first := cmp.Compare(p.kubernetesAge(aTime), p.kubernetesAge(bTime)); first != 0 || aTime == bTime {
		return first, rule
	}
	return p.compareBy(core.RuleUID, a, b), core.RuleUID
}
