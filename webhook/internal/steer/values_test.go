package steer_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podrank/podrank/webhook/api/v1alpha1"
	"github.com/podrank/podrank/webhook/internal/decide"
	"github.com/podrank/podrank/webhook/internal/fakeapi"
	"github.com/podrank/podrank/webhook/internal/steer"
	"github.com/podrank/podrank/webhook/internal/values"
)

// taken are values by the names of pods.
type taken struct {
	numbers map[string]float64
	err     error
	asked   []values.Source
}

func (v *taken) Read(_ context.Context, namespace string, of values.Source) (map[string]values.Value, error) {
	v.asked = append(v.asked, of)
	read := map[string]values.Value{}
	for name, number := range v.numbers {
		read[name] = values.Value{Number: number, At: now.Add(-time.Second)}
	}
	if namespace != "shop" {
		return nil, errors.New("another namespace")
	}
	return read, v.err
}

func quantity(text string) *resource.Quantity {
	q := resource.MustParse(text)
	return &q
}

// valued is a shop whose policy has these entries, and whose pods web-0 and so on have these values.
func valued(t *testing.T, entries []v1alpha1.Preference, numbers ...float64) (*shop, *taken) {
	s := newShop(t, func(s *shop, _ []*corev1.Pod) { s.policy.Spec.DeleteFirst = entries })
	read := &taken{numbers: map[string]float64{}}
	for i, number := range numbers {
		read.numbers[fmt.Sprint("web-", i)] = number
	}
	s.Values = read
	return s, read
}

// byLowest prefers the lowest value, of those that are at most this, if it is set.
func byLowest(atMost string) v1alpha1.Preference {
	return v1alpha1.Preference{Type: v1alpha1.PreferenceLowest, Lowest: byValue(func(m *v1alpha1.Measure) {
		if atMost != "" {
			m.AtMost = quantity(atMost)
		}
	})}
}

func byValue(change func(*v1alpha1.Measure)) *v1alpha1.Measure {
	measure := &v1alpha1.Measure{Query: "sessions"}
	if change != nil {
		change(measure)
	}
	return measure
}

// The value decides within its entry, and the entries before and after it count as ever. Pods with an odd number are on spot nodes.
func TestValues(t *testing.T) {
	_, spot, _ := fakeapi.Shop(0)
	nodes := spot.Spec.DeleteFirst[0].Nodes
	for name, c := range map[string]struct {
		entries []v1alpha1.Preference
		numbers []float64
		to      int32
		want    string
		valued  int
	}{
		"lowest":                   {[]v1alpha1.Preference{byLowest("")}, []float64{3, 1, 4, 1, 5, 0}, 3, "[web-1 web-3 web-5]", 6},
		"highest":                  {[]v1alpha1.Preference{{Type: v1alpha1.PreferenceHighest, Highest: byValue(nil)}}, []float64{3, 1, 4, 1, 5, 0}, 3, "[web-0 web-2 web-4]", 6},
		"after spot nodes":         {[]v1alpha1.Preference{{Type: v1alpha1.PreferenceNodes, Nodes: nodes}, byLowest("")}, []float64{3, 9, 1, 9, 2, 9}, 2, "[web-1 web-2 web-3 web-5]", 3},
		"too many for their entry": {[]v1alpha1.Preference{byLowest("2"), {Type: v1alpha1.PreferenceNodes, Nodes: nodes}}, []float64{9, 9, 0, 8, 0, 9}, 3, "[web-1 web-2 web-4]|[web-2 web-3 web-4]|[web-2 web-4 web-5]", 6},
		"too many for their entry, and no later one": {[]v1alpha1.Preference{byLowest("2")}, []float64{9, 9, 0, 8, 1, 9}, 5, "[web-2]", 6},
		"those without one last":                     {[]v1alpha1.Preference{byLowest("")}, []float64{3, 1, 2}, 3, "[web-0 web-1 web-2]", 3},
		"of fewer than half":                         {[]v1alpha1.Preference{{Type: v1alpha1.PreferenceNodes, Nodes: nodes}, byLowest("")}, []float64{9, 8}, 3, "[web-1 web-3 web-5]", 0},
		"at most, of fewer than half":                {[]v1alpha1.Preference{{Type: v1alpha1.PreferenceNodes, Nodes: nodes}, byLowest("2")}, []float64{9, 8}, 3, "[web-1 web-3 web-5]", 0},
	} {
		s, read := valued(t, c.entries, c.numbers...)
		o := s.fall(c.to, steer.Steered, "")
		if got := fmt.Sprint(names(o.Selected)); !slices.Contains(strings.Split(c.want, "|"), got) || o.Valuation.Valued != c.valued || (o.Valuation.Why == nil) != (c.valued > 0) {
			t.Errorf("%s: %s, %+v", name, got, o.Valuation)
		}
		if len(read.asked) != 1 || s.Limits.Held("shop") != 0 {
			t.Errorf("%s: read %d times, %d pods", name, len(read.asked), s.Limits.Held("shop"))
		}
	}
}

// If there is no room, it is known all the same which values there were.
func TestValuedWithoutRoom(t *testing.T) {
	s, _ := valued(t, []v1alpha1.Preference{byLowest("")}, 3, 1, 4, 1, 5, 0)
	s.annotate("web-0", "karpenter", "-2147483648")
	if o := s.fall(3, steer.NoRoom, "web-0"); o.Valuation.Valued != 6 {
		t.Errorf("%+v", o.Valuation)
	}
}

// If nothing can be read, the rest of the policy counts, and the outcome says why.
func TestUnread(t *testing.T) {
	_, spot, _ := fakeapi.Shop(0)
	s, read := valued(t, []v1alpha1.Preference{spot.Spec.DeleteFirst[0], byLowest("0")}, 1, 1, 1, 1, 1, 1)
	read.err = errors.New("the adapter is down")
	o := s.fall(3, steer.Steered, "")
	if got := fmt.Sprint(names(o.Selected)); got != "[web-1 web-3 web-5]" || o.Valuation.Valued != 0 || o.Valuation.Pods != 3 || o.Valuation.Why != read.err || len(o.Valuation.Values) > 0 {
		t.Errorf("%s, %+v", got, o.Valuation)
	}
}

// Usage is read of the set's own pods, and metrics of all pods of the namespace, so that other sets can share them.
func TestRead(t *testing.T) {
	for measure, want := range map[*v1alpha1.Measure]values.Source{
		{Resource: "cpu", Container: "main"}:                          {Resource: "cpu", Container: "main", Pods: "app=web"},
		{Metric: &v1alpha1.PodMetric{Name: "active_sessions"}}:        {Metric: "active_sessions"},
		byValue(func(m *v1alpha1.Measure) { m.Step = quantity("5") }): {Query: "sessions"},
	} {
		s, read := valued(t, []v1alpha1.Preference{{Type: v1alpha1.PreferenceLowest, Lowest: measure}}, 3, 1, 4, 1, 5, 0)
		o := s.fall(4, steer.Steered, "")
		if len(read.asked) != 1 || read.asked[0] != want || o.At.Sub(o.Valuation.Oldest) != time.Second {
			t.Errorf("%+v: %+v, %+v", want, read.asked, o.Valuation)
		}
	}
	// Nothing is read for a policy that asks for none, nor for one that only observes.
	s, read := valued(t, []v1alpha1.Preference{byLowest("")})
	s.Observes = true
	o := s.fall(4, steer.Observed, "")
	o.Release()
	if read.asked != nil || o.Valuation != nil {
		t.Errorf("%+v, %+v", read.asked, o.Valuation)
	}
	s = newShop(t, nil)
	if o := s.fall(4, steer.Steered, ""); o.Valuation != nil {
		t.Errorf("%+v", o.Valuation)
	}
}

// An entry that has lost what it says, on its way through an older CRD or because it is of a later release, has nothing steered: it does not mean all pods.
func TestEmptied(t *testing.T) {
	pods := v1alpha1.Preference{Type: v1alpha1.PreferencePods, Pods: &ofWeb}
	for _, entry := range []v1alpha1.Preference{
		{}, {Type: v1alpha1.PreferenceLowest}, {Type: v1alpha1.PreferenceLowest, Lowest: &v1alpha1.Measure{}}, {Type: "Age"},
		{Type: v1alpha1.PreferenceLowest, Pods: pods.Pods}, {Type: pods.Type, Pods: pods.Pods, Lowest: byValue(nil)},
	} {
		s, read := valued(t, []v1alpha1.Preference{entry, pods})
		s.fall(3, steer.NoPolicy, "")
		if read.asked != nil || len(s.costs()) > 0 {
			t.Errorf("%+v: %v, %v", entry, read.asked, s.costs())
		}
	}
}

// Of two nodes with equally busy pods, one becomes empty, but busier pods are not deleted for that.
func TestEmptyNodesByValue(t *testing.T) {
	s, _ := valued(t, []v1alpha1.Preference{byLowest("")}, 0, 0, 0, 0, 9, 0)
	fakeapi.Must(t, s.Get(context.Background(), fakeapi.Key("spot"), s.policy))
	s.policy.Spec.EmptyNodes = v1alpha1.EmptyNodesPrefer
	fakeapi.Must(t, s.Update(context.Background(), s.policy))
	s.NodePods = alone{}
	if got := fmt.Sprint(names(s.fall(3, steer.Steered, "").Selected)); got != "[web-1 web-3 web-5]" {
		t.Error(got)
	}
}

// alone are nodepods of which there are none.
type alone struct{}

func (alone) Wait(context.Context) error           { return nil }
func (alone) Excluding(types.UID) []decide.NodePod { return nil }

var ofWeb = v1alpha1.LabelSelector{MatchLabels: map[string]string{"app": "web"}}

// No pod is deleted while one of the same preference with a lower value is kept, whatever the values, which also change
// between the plans of a request.
func TestNoneBefore(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 7))
	for range 100 {
		numbers := make([]float64, 6)
		for i := range numbers {
			numbers[i] = float64(random.IntN(4))
		}
		to := int32(1 + random.IntN(5))
		s, _ := valued(t, []v1alpha1.Preference{byLowest("")}, numbers...)
		o := s.fall(to, steer.Steered, "")
		highest, deleted := 0., map[string]bool{}
		for _, pod := range o.Selected {
			deleted[pod.Key.Name] = true
		}
		for i, number := range numbers {
			if deleted[fmt.Sprint("web-", i)] {
				highest = max(highest, number)
			}
		}
		for i, number := range numbers {
			if !deleted[fmt.Sprint("web-", i)] && number < highest {
				t.Fatalf("%v to %d: %v", numbers, to, names(o.Selected))
			}
		}
	}
}

// Pods say themselves what their values are, so nothing is read, and nobody knows how old they are.
func TestAnnotated(t *testing.T) {
	const key = "example.com/sessions"
	measure := &v1alpha1.Measure{Annotation: &v1alpha1.PodAnnotation{Key: key}}
	for texts, want := range map[[6]string]string{
		{"3", "1", "4", "1", "5", "0"}:                           "[web-1 web-3 web-5] 6",
		{"1k", "0.5", "9", "250m", "-1", "7"}:                    "[web-1 web-3 web-4] 6",
		{"3", "1", "2", "", "1e-10000000", "9007199254740993"}:   "[web-0 web-1 web-2] 3",
		{"3", "1", "2", "many", "NaN", strings.Repeat("9", 1e5)}: "[web-0 web-1 web-2] 3",
		{"9", "8", "inf", "1e400", " 1", "2\n"}:                  "[web-0 web-1 web-2] 0",
	} {
		s := newShop(t, func(s *shop, pods []*corev1.Pod) {
			s.policy.Spec.DeleteFirst = []v1alpha1.Preference{{Type: v1alpha1.PreferenceLowest, Lowest: measure}}
			for i, pod := range pods {
				pod.Annotations = map[string]string{key: texts[i]}
			}
		})
		read := &taken{}
		s.Values = read
		o := s.fall(3, steer.Steered, "")
		if got := fmt.Sprint(names(o.Selected), o.Valuation.Valued); got != want || len(read.asked) != 0 || !o.Valuation.Oldest.IsZero() {
			t.Errorf("%.60q: %s, %+v", texts, got, o.Valuation)
		}
	}
}
