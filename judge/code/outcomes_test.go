package judge

import (
	"fmt"

	podrank "github.com/podrank/podrank/go"
)

// checkOutcomes compares the pods that upstream deleted with what podrank said of each.
func checkOutcomes(outcomes []podrank.Outcome, deleted map[string]bool, tally map[string]int) error {
	type group struct{ quota, pods, gone int }
	groups, known := map[int]*group{}, map[string]bool{}
	for _, o := range outcomes {
		known[o.Pod.Name] = true
		tally[o.Verdict.String()+" "+string(o.Reason)]++
		switch o.Verdict {
		case podrank.VerdictDelete, podrank.VerdictKeep:
			if deleted[o.Pod.Name] != (o.Verdict == podrank.VerdictDelete) {
				return fmt.Errorf("%s: %v because %s, but upstream deletes: %v", o.Pod.Name, o.Verdict, o.Reason, deleted[o.Pod.Name])
			}
		case podrank.VerdictContested:
			g := groups[o.Group]
			if g == nil {
				g = &group{quota: o.Quota}
				groups[o.Group] = g
			}
			if g.pods++; g.quota != o.Quota {
				return fmt.Errorf("%s: the quota is %d and %d", o.Pod.Name, o.Quota, g.quota)
			}
			if deleted[o.Pod.Name] {
				g.gone++
			}
		}
	}
	for number, g := range groups {
		if g.gone != g.quota || g.quota < 1 || g.quota >= g.pods {
			return fmt.Errorf("of the %d pods of group %d go %d and not %d", g.pods, number, g.gone, g.quota)
		}
	}
	for name := range deleted {
		if !known[name] {
			return fmt.Errorf("upstream deletes %s, which podrank does not know", name)
		}
	}
	return nil
}

// verdicts are those of all pods by name, to see which pods went at least once, and which stayed at least once.
type fates map[string]*[2]bool

func (f fates) add(outcomes []podrank.Outcome, deleted map[string]bool) {
	for _, o := range outcomes {
		if f[o.Pod.Name] == nil {
			f[o.Pod.Name] = &[2]bool{}
		}
		if deleted[o.Pod.Name] {
			f[o.Pod.Name][1] = true
		} else {
			f[o.Pod.Name][0] = true
		}
	}
}

// check finds contested pods about which there was nothing to contest.
func (f fates) check(outcomes []podrank.Outcome) error {
	for _, o := range outcomes {
		if o.Verdict == podrank.VerdictContested && *f[o.Pod.Name] != [2]bool{true, true} {
			return fmt.Errorf("%s is contested because %s, but its fate was always the same", o.Pod.Name, o.Reason)
		}
	}
	return nil
}
