package steer

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

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

// ordering orders the pods of one entry of the policy by their values.
type ordering struct {
	f          *fall
	tier       int
	preference *values.Preference
	// pods are those of the entry, and after the tiers that they have if their value is too high for it.
	pods  []values.Pod
	after map[types.UID]int
	order *values.Order
}

// ordering begins to order.
func (f *fall) ordering() *ordering {
	return &ordering{f: f, tier: f.chosen.OfTier, preference: f.chosen.Preference, after: map[types.UID]int{}}
}

// visit looks at a pod while it is whole.
func (o *ordering) visit(pod *corev1.Pod) {
	if o.preference == nil || o.f.tiers[pod.UID] != o.tier {
		return
	}
	o.pods = append(o.pods, values.Pod{UID: pod.UID, Name: pod.Name, Created: pod.CreationTimestamp.Time})
	if o.preference.Annotation != "" {
		if value, ok := o.preference.Annotated(pod, o.f.At); ok {
			o.f.read[pod.Name] = value
		}
	}
	o.after[pod.UID] = o.f.chosen.TierFrom(o.tier+1, pod, o.f.nodes)
}

// rank gives each value in the entry a tier of its own, before that of pods without a value, and moves the later entries behind them.
func (o *ordering) rank() {
	if o.preference == nil {
		return
	}
	o.order = o.preference.Order(o.pods, o.f.read, o.f.unread, o.f.At)
	for uid, tier := range o.f.tiers {
		rank, isIn := o.order.Ranks[uid]
		if after, is := o.after[uid]; is && !isIn {
			tier = after
		}
		switch {
		case isIn:
			tier += rank
		case tier > o.tier:
			tier += o.order.Last
		}
		o.f.tiers[uid] = tier
	}
}
