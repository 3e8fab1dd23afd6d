package steer

import (
	"context"

	corev1 "k8s.io/api/core/v1"

	"github.com/podrank/podrank/webhook/internal/values"
)

// readValues reads the values for which the policy asks, once for a request. While it waits, it holds nothing that
// other sets need. If it fails, the rest of the policy counts.
func (f *fall) readValues(ctx context.Context) {
	if f.chosen.Preference == nil {
		return
	}
	source := f.chosen.Preference.Source
	if source.Annotation != "" {
		// The pods have them.
		f.read = map[string]values.Value{}
		return
	}
	if source.Resource != "" {
		source.Pods = f.Set.Selector.String()
	}
	if f.read, f.unread = f.by.Values.Read(ctx, f.Key.Namespace, source); f.unread != nil {
		f.Valuation = &values.Order{Why: f.unread}
	}
}

// setTier gives a pod its tier, while it is whole. A pod whose value decides has the tier for values that are too high, until rank is called.
func (f *fall) setTier(pod *corev1.Pod) {
	tier, preference := f.chosen.Tier(pod, f.nodes), f.chosen.Preference
	if preference != nil && tier == f.chosen.OfTier {
		f.valued = append(f.valued, values.Pod{UID: pod.UID, Name: pod.Name, Created: pod.CreationTimestamp.Time})
		if preference.Annotation != "" {
			if value, ok := preference.Annotated(pod, f.At); ok {
				f.read[pod.Name] = value
			}
		}
		tier = f.chosen.TierFrom(tier+1, pod, f.nodes)
	}
	f.tiers[pod.UID] = tier
}

// rank gives each value in the entry a tier of its own, before that of pods without a value, and moves the later entries behind them.
func (f *fall) rank() {
	if f.chosen.Preference == nil {
		return
	}
	f.order, f.valued = f.chosen.Preference.Order(f.valued, f.read, f.unread, f.At), nil
	for uid, tier := range f.tiers {
		if rank, isIn := f.order.Ranks[uid]; isIn {
			f.tiers[uid] = f.chosen.OfTier + rank
		} else if tier > f.chosen.OfTier {
			f.tiers[uid] = tier + f.order.Last
		}
	}
}
