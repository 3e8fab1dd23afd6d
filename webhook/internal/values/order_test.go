package values_test

import (
	"fmt"
	"maps"
	"math"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podrank/podrank/webhook/api/v1alpha1"
	"github.com/podrank/podrank/webhook/internal/fakeapi"
	"github.com/podrank/podrank/webhook/internal/values"
)

// ordered orders pods a, b, c and so on, an hour old, by these numbers, all of now.
func ordered(preference *values.Preference, numbers ...float64) *values.Order {
	var pods []values.Pod
	read := map[string]values.Value{}
	for i, number := range numbers {
		name := string(rune('a' + i))
		pods = append(pods, values.Pod{UID: types.UID(name), Name: name, Created: fakeapi.Now.Add(-time.Hour)})
		read[name] = values.Value{Number: number, At: fakeapi.Now}
	}
	return preference.Order(pods, read, nil, fakeapi.Now)
}

// ranks are the ranks of pods as text, in the order of their names, with "-" for a pod that is left out.
func ranks(o *values.Order) (text string) {
	for i := range o.Pods {
		rank, isIn := o.Ranks[types.UID(rune('a'+i))]
		if !isIn {
			text += "-"
			continue
		}
		text += fmt.Sprint(rank)
	}
	return text
}

func TestOrder(t *testing.T) {
	none, all := math.NaN(), math.Inf(1)
	for _, test := range []struct {
		name       string
		preference values.Preference
		numbers    []float64
		want       string
		valued     int
	}{
		{"lowest", values.Preference{AtMost: all}, []float64{3, 0, .5, 3, -1}, "31230", 5},
		{"highest", values.Preference{AtMost: all, Highest: true}, []float64{3, 0, .5, 3, -1}, "02103", 5},
		{"step", values.Preference{AtMost: all, Step: 5}, []float64{9, 0, 4.9, 5, -1}, "21120", 5},
		{"highest by steps", values.Preference{AtMost: all, Step: 5, Highest: true}, []float64{9, 0, 4, 5, 10}, "12210", 5},
		{"steps of tenths", values.Preference{AtMost: all, Step: .1}, []float64{.1, .2, .3, .29, .35, 0}, "123230", 6},
		{"steps of a fortieth", values.Preference{AtMost: all, Step: .025}, []float64{.075, .05, .074, 0}, "2110", 4},
		{"at most", values.Preference{AtMost: 3}, []float64{3, 4, 0, 3.1, 1}, "2-0-1", 5},
		{"at most by steps", values.Preference{AtMost: 3, Step: 5}, []float64{3, 4, 0, 3.1, 1}, "0-0-0", 5},
		{"without a value last", values.Preference{AtMost: all}, []float64{3, none, 0, none, 1}, "23031", 3},
		{"half is enough", values.Preference{AtMost: all}, []float64{3, none, 0, none}, "1202", 2},
		{"fewer than half", values.Preference{AtMost: 1}, []float64{3, none, 0, none, none}, "00000", 0},
		{"what is none", values.Preference{AtMost: all}, []float64{math.Inf(1), math.Inf(-1), math.MinInt64, math.MinInt64 / 1000., 0, 1, 2, 3}, "44440123", 4},
		{"what is none on another processor", values.Preference{AtMost: all}, []float64{math.MaxInt64, math.MaxInt64 / 1000., 0, 1}, "2201", 2},
		{"nobody", values.Preference{AtMost: all}, nil, "", 0},
	} {
		o := ordered(&test.preference, test.numbers...)
		if got := ranks(o); got != test.want || o.Valued != test.valued || (o.Why != nil) != (test.valued == 0 && len(test.numbers) > 0) {
			t.Errorf("%s: %s, %d, %v", test.name, got, o.Valued, o.Why)
		}
	}
	o := (&values.Preference{AtMost: 1}).Order([]values.Pod{{UID: "a", Name: "a"}}, map[string]values.Value{"a": {}}, fmt.Errorf("down"), fakeapi.Now)
	if ranks(o) != "0" || o.Valued != 0 || o.Why == nil {
		t.Errorf("what could not be read: %+v", o)
	}
	if o = (&values.Preference{}).Order(nil, nil, fmt.Errorf("down"), fakeapi.Now); o.Why != nil {
		t.Errorf("nothing had to be read: %+v", o)
	}
}

// A value is none if it is older than its pod, of the future or too old.
func TestTimes(t *testing.T) {
	now, minute := fakeapi.Now, time.Minute
	pods := []values.Pod{{UID: "a", Name: "a", Created: now.Add(-time.Hour)}, {UID: "b", Name: "b", Created: now.Add(-minute)}}
	preference := values.Preference{AtMost: math.Inf(1)}
	for _, test := range []struct {
		at, most time.Duration
		want     string
	}{
		{-30 * time.Second, 0, "01"}, {-minute, 0, "01"}, {-minute - 1, 0, "01 of 1"}, {5 * time.Second, 0, "01"}, {5*time.Second + 1, 0, "01 of 1"},
		{-30 * time.Second, 30 * time.Second, "01"}, {-30 * time.Second, 29 * time.Second, "01 of 1"},
	} {
		preference.MaxAge = test.most
		o := preference.Order(pods, map[string]values.Value{"a": {Number: 0, At: now}, "b": {Number: 1, At: now.Add(test.at)}}, nil, now)
		got := ranks(o)
		if o.Valued == 1 {
			got += " of 1"
		}
		if got != test.want || o.Valued == 2 && test.at < 0 && !o.Oldest.Equal(now.Add(test.at)) {
			t.Errorf("%v: %s, oldest %v", test, got, o.Oldest)
		}
	}
}

// A scrape that is frozen has fresh times. Only the query can tell, so such values count.
func TestFrozen(t *testing.T) {
	preference := values.Preference{AtMost: math.Inf(1), MaxAge: time.Second}
	if o := ordered(&preference, 1, 1); o.Valued != 2 {
		t.Errorf("%+v", o)
	}
}

func TestCompile(t *testing.T) {
	number := func(text string) *resource.Quantity {
		q := resource.MustParse(text)
		return &q
	}
	metric := func(name string) v1alpha1.Measure { return v1alpha1.Measure{Metric: &v1alpha1.PodMetric{Name: name}} }
	age := &metav1.Duration{Duration: time.Minute}
	selector := &v1alpha1.LabelSelector{MatchLabels: map[string]string{"b": "c"}, MatchExpressions: []v1alpha1.LabelSelectorRequirement{{Key: "a", Operator: "NotIn", Values: []string{"y", "x"}}}}
	for want, of := range map[values.Preference]v1alpha1.Measure{
		{Source: values.Source{Metric: "a:b.c-d_E"}, AtMost: math.Inf(1)}:                          metric("a:b.c-d_E"),
		{Source: values.Source{Metric: "...", Selector: "a notin (x,y),b=c"}, AtMost: math.Inf(1)}: {Metric: &v1alpha1.PodMetric{Name: "...", Selector: selector}},
		{Source: values.Source{Resource: "cpu", Container: "main"}, AtMost: .05, Step: .01}:        {Resource: "cpu", Container: "main", AtMost: number("50m"), Step: number("10m")},
		{Source: values.Source{Annotation: "a.b/c"}, AtMost: math.Inf(1)}:                          {Annotation: &v1alpha1.PodAnnotation{Key: "a.b/c"}},
		{Source: values.Source{Query: "sessions"}, AtMost: 0, Step: 1 << 20, MaxAge: time.Minute}:  {Query: "sessions", AtMost: number("0"), Step: number("1Mi"), MaxAge: age},
	} {
		got, err := values.Compile(&of, false)
		if err != nil || *got != want {
			t.Errorf("%+v: %v", got, err)
		}
	}
	bad := &v1alpha1.LabelSelector{MatchExpressions: []v1alpha1.LabelSelectorRequirement{{Key: "a", Operator: "Nonsense"}}}
	large := &v1alpha1.LabelSelector{MatchLabels: map[string]string{}}
	for i := range 256 {
		large.MatchLabels[fmt.Sprint("a", i)] = strings.Repeat("x", 63)
	}
	wrong := map[string]v1alpha1.Measure{
		"set one": {}, "set one of": {Resource: "cpu", Query: "a"}, "set one of metric, resource, query and annotation": {Query: "a", Annotation: &v1alpha1.PodAnnotation{Key: "b"}}, "metric.selector": {Metric: &v1alpha1.PodMetric{Name: "a", Selector: bad}},
		"maxAge must be":                       {Resource: "cpu", MaxAge: &metav1.Duration{}},
		"metric.selector has more than 16 KiB": {Metric: &v1alpha1.PodMetric{Name: "a", Selector: large}},
	}
	for name, isOne := range readFacts(t).Names {
		if of := metric(name); isOne {
			_, err := values.Compile(&of, false)
			fakeapi.Must(t, err)
		} else {
			wrong[fmt.Sprintf("%.60q is not a name of a metric", name)] = of
		}
	}
	for want, of := range wrong {
		if got, err := values.Compile(&of, false); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %+v, %v", want, got, err)
		}
	}
	var options values.Options
	for _, text := range []string{"a=b=c", "sessions=d"} {
		fakeapi.Must(t, options.AddQuery(text))
	}
	if !maps.Equal(options.Queries, map[string]string{"a": "b=c", "sessions": "d"}) {
		t.Error(options.Queries)
	}
	for _, text := range []string{"a=again", "b", "b=", "=c", "b c=d"} {
		if options.AddQuery(text) == nil {
			t.Error(text)
		}
	}
}
