package values

import (
	"fmt"
	"math"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podrank/podrank/webhook/internal/bounded"
)

// A Value is that of a pod.
type Value struct {
	Number float64
	// At is when it was taken, as far as the source tells.
	At time.Time
}

// A Pod is one whose value is read.
type Pod struct {
	UID     types.UID
	Name    string
	Created time.Time
}

// Annotated returns the value that a pod has in the annotation, at this time. It is false if the pod has none.
func (s *Source) Annotated(pod metav1.Object, now time.Time) (value Value, ok bool) {
	parsed, ok := parse(pod.GetAnnotations()[s.Annotation])
	return Value{number(parsed), now}, ok
}

// An Order is that of the pods of an entry.
type Order struct {
	// Pods is how many there are, and Valued how many have a value that counts, of which the oldest was taken at Oldest.
	Pods, Valued int
	Oldest       time.Time
	// Ranks are those of pods, from 0 to Last, which pods without a value have. Pods above AtMost have none.
	Ranks map[types.UID]int
	Last  int
	// Values are those that count.
	Values map[types.UID]float64
	// Why is why no value counts, or nil.
	Why error
}

// limit is where numbers are no longer exact. Adapters turn infinities into numbers beyond it, such as the smallest integer.
const limit = 1 << 53

// counts reports whether a value is one.
func (p *Preference) counts(pod *Pod, value Value, now time.Time) bool {
	return math.Abs(value.Number) < limit && !value.At.Before(pod.Created) && !value.At.After(now.Add(bounded.ValueSkew)) &&
		(p.MaxAge == 0 || now.Sub(value.At) <= p.MaxAge)
}

// stepped is the value with which a pod is compared: the lower is deleted first.
func (p *Preference) stepped(value float64) float64 {
	if p.Step > 0 {
		steps := value / p.Step
		// 0.3 / 0.1 is a little less than 3.
		if whole := math.Round(steps); math.Abs(steps-whole) <= 1e-9*max(1, math.Abs(whole)) {
			steps = whole
		}
		value = math.Floor(steps)
	}
	if p.Highest {
		value = -value
	}
	return value
}

// Order orders pods by what was read of them, or by nothing if that failed.
func (p *Preference) Order(pods []Pod, read map[string]Value, failed error, now time.Time) *Order {
	o := &Order{Pods: len(pods), Ranks: map[types.UID]int{}, Values: map[types.UID]float64{}}
	for i, pod := range pods {
		value, ok := read[pod.Name]
		if !ok || !p.counts(&pods[i], value, now) {
			continue
		}
		o.Values[pod.UID] = value.Number
		// Nobody knows when an annotation was written.
		if p.Annotation == "" && (o.Oldest.IsZero() || value.At.Before(o.Oldest)) {
			o.Oldest = value.At
		}
	}
	switch o.Valued = len(o.Values); {
	case failed != nil && o.Pods > 0:
		o.Why = failed
	case 2*o.Valued < o.Pods:
		o.Why = fmt.Errorf("%d of %d pods have a value, and fewer than half do not count", o.Valued, o.Pods)
	}
	if o.Why != nil {
		o.Valued, o.Oldest, o.Values = 0, time.Time{}, map[types.UID]float64{}
	}
	// There is one rank for each value.
	var steps []float64
	for _, value := range o.Values {
		steps = append(steps, p.stepped(value))
	}
	slices.Sort(steps)
	steps = slices.Compact(steps)
	o.Last = len(steps)
	for _, pod := range pods {
		value, ok := o.Values[pod.UID]
		switch {
		case !ok:
			o.Ranks[pod.UID] = o.Last
		case value <= p.AtMost:
			o.Ranks[pod.UID], _ = slices.BinarySearch(steps, p.stepped(value))
		}
	}
	return o
}
