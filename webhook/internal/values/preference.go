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
