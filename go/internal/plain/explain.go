package plain

import "github.com/podrank/podrank/go/internal/core"

// Explain asks every rule.
func (Engine) Explain(a, b *core.Pod, options core.Options, rows *[core.RowMax]core.Row) (int, error) {
	p, decided := policyOf(options), false
	for i, rule := range rules {
		row := core.Row{Rule: rule, Ordering: int32(p.compareBy(rule, a, b))}
		_, aApplies := p.value(rule, a)
		_, bApplies := p.value(rule, b)
		if aApplies && bApplies {
			row.Applies = 1
		}
		if !decided && row.Ordering != 0 {
			row.Decides, decided = 1, true
		}
		row.A, row.Kind = p.shown(rule, a)
		row.B, _ = p.shown(rule, b)
		rows[i] = row
	}
	return len(rules), nil
}

// shown is what a rule reads of a pod, in a unit for people, and what kind of number that is.
func (p *policy) shown(rule uint8, pod *core.Pod) (value int64, kind uint8) {
	switch rule {
	case core.RuleUnassigned:
		return int64(flag(pod, core.PodAssigned)), core.RowKindBool
	case core.RulePhase:
		return int64(pod.Phase), core.RowKindPhase
	case core.RuleNotReady:
		return int64(flag(pod, core.PodReady)), core.RowKindBool
	case core.RuleTier:
		return int64(pod.Tier), core.RowKindNumber
	case core.RuleDeletionCost:
		return int64(pod.DeletionCost), core.RowKindNumber
	case core.RuleRank:
		return int64(pod.Rank), core.RowKindNumber
	case core.RulePreferred:
		return int64(flag(pod, core.PodPreferred)), core.RowKindBool
	case core.RuleReadyTime:
		return p.shownTime(pod.ReadyTime)
	case core.RuleRestarts:
		return int64(pod.Restarts), core.RowKindNumber
	case core.RuleSidecarRestarts:
		return int64(pod.SidecarRestarts), core.RowKindNumber
	case core.RuleCreationTime:
		return p.shownTime(pod.CreationTime)
	}
	return 0, core.RowKindUID
}

func (p *policy) shownTime(time int64) (value int64, kind uint8) {
	switch {
	case !p.hasBuckets:
		return time, core.RowKindTime
	case time == core.TimeUnset:
		return time, core.RowKindAgeBucket
	}
	// The first bucket, of a time that is not before now, is -1.
	return int64(p.age(time)) - 2, core.RowKindAgeBucket
}
