// Package values reads a value of each pod when it is needed: how many sessions it has, or how much processor time it uses. It reads only from
// the pod itself, the API server and the one address of Prometheus that the administrator has set. If a value is wrong, late or
// much too large, it returns an error.
package values

import (
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/podrank/podrank/webhook/api/v1alpha1"
	"github.com/podrank/podrank/webhook/internal/bounded"
)

// A Source is where values come from.
type Source struct {
	// Metric is that of an adapter, or "". Selector selects by the labels of the metric.
	Metric, Selector string
	// Resource is cpu, memory or "", of one container or, if that is "", of all. Pods is the selector of the pods to read about.
	Resource, Container, Pods string
	// Query is the name of a query, and Annotation is the key of an annotation that the pods have, or "".
	Query, Annotation string
}

// A Preference is to order pods by a value.
type Preference struct {
	Source
	// Highest is whether the highest value is deleted first.
	Highest bool
	// AtMost is the highest value that is not left out. Values that lie between the same two multiples of Step are equal, if it is not 0.
	AtMost, Step float64
	// MaxAge is how old a value may be, if it is not 0.
	MaxAge time.Duration
}

// Patterns of names that end in a path or stand for a query.
var (
	metricName = regexp.MustCompile(`^[A-Za-z0-9_.:-]{1,253}$`)
	queryName  = regexp.MustCompile(`^[A-Za-z0-9_.-]{1,63}$`)
)

// Compile parses what a policy says, which the API server has checked. A policy that says something else than this release knows has lost it on the way here,
// and is an error: what is left of it would be another preference.
func Compile(of *v1alpha1.Measure, highest bool) (*Preference, error) {
	preference := &Preference{Highest: highest, AtMost: math.Inf(1), Step: number(ptr.Deref(of.Step, resource.Quantity{}))}
	preference.Resource, preference.Container, preference.Query = of.Resource, of.Container, of.Query
	preference.Annotation = ptr.Deref(of.Annotation, v1alpha1.PodAnnotation{}).Key
	if of.Metric != nil {
		if name := of.Metric.Name; !metricName.MatchString(name) || name == "." || name == ".." {
			return nil, fmt.Errorf("metric.name: %.60q is not a name of a metric", name)
		}
		preference.Metric = of.Metric.Name
		// Without one, its text is "".
		selector, err := of.Metric.Selector.Compile()
		if err != nil {
			return nil, fmt.Errorf("metric.selector: %w", err)
		}
		if preference.Selector = selector.String(); len(preference.Selector) > bounded.KeptBytes {
			return nil, fmt.Errorf("metric.selector has more than %d KiB", bounded.KeptBytes>>10)
		}
	}
	sources := slices.DeleteFunc([]string{preference.Metric, preference.Resource, preference.Query, preference.Annotation}, func(name string) bool { return name == "" })
	if len(sources) != 1 {
		return nil, errors.New("set one of metric, resource, query and annotation")
	}
	if of.AtMost != nil {
		preference.AtMost = number(*of.AtMost)
	}
	if of.MaxAge != nil {
		if preference.MaxAge = of.MaxAge.Duration; preference.MaxAge <= 0 {
			return nil, errors.New("maxAge must be more than 0")
		}
	}
	return preference, nil
}

// quantity is what a value looks like. Larger exponents would take long to compute.
var quantity = regexp.MustCompile(`^[+-]?([0-9]{1,30}(\.[0-9]{0,30})?|\.[0-9]{1,30})([numkMGTPE]|[KMGTPE]i|[eE][+-]?[0-9]{1,2})?$`)

// parse parses a quantity. It is false if that is none.
func parse(text string) (parsed resource.Quantity, ok bool) {
	if !quantity.MatchString(text) {
		return parsed, false
	}
	parsed, err := resource.ParseQuantity(text)
	return parsed, err == nil
}

// number returns the number next to a quantity. AsApproximateFloat64 may return another one, such as for 300m. AsDec
// changes its receiver, which is a copy here.
func number(parsed resource.Quantity) float64 {
	number, _ := strconv.ParseFloat(parsed.AsDec().String(), 64)
	return number
}

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
