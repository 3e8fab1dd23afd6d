package policy_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/podrank/podrank/webhook/api/v1alpha1"
	"github.com/podrank/podrank/webhook/internal/bounded"
	"github.com/podrank/podrank/webhook/internal/fakeapi"
	"github.com/podrank/podrank/webhook/internal/policy"
)

func selector(key, value string) *metav1.LabelSelector {
	return &metav1.LabelSelector{MatchLabels: map[string]string{key: value}}
}

func named(name string, second int, selector metav1.LabelSelector) v1alpha1.ScaleDownPolicy {
	p := v1alpha1.ScaleDownPolicy{Spec: v1alpha1.ScaleDownPolicySpec{Selector: selector}}
	p.Name, p.CreationTimestamp = name, metav1.NewTime(time.Unix(int64(second), 0))
	return p
}

// each passes on what becomes of the policies of the shop that select these labels, in the order in which they count, and those that are wrong.
func each(objects []v1alpha1.ScaleDownPolicy, set labels.Set) (chosen []*policy.Compiled, wrong []string, err error) {
	var all []client.Object
	for i := range objects {
		objects[i].Namespace = "shop"
		all = append(all, &objects[i])
	}
	err = policy.Each(context.Background(), bounded.NewReader(fakeapi.New(all...), 1), "shop", func(compiled *policy.Compiled, err error) {
		if err != nil {
			wrong = append(wrong, compiled.Policy.Name)
		} else if compiled.Selects(set) {
			chosen = append(chosen, compiled)
		}
	})
	slices.SortFunc(chosen, policy.Compare)
	return chosen, wrong, err
}

func TestEach(t *testing.T) {
	deleted := named("deleted", 0, metav1.LabelSelector{})
	deleted.DeletionTimestamp, deleted.Finalizers = &deleted.CreationTimestamp, []string{"example.com/stays"}
	invalid := named("invalid", 0, metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "a", Operator: "Nonsense"}}})
	chosen, wrong, err := each([]v1alpha1.ScaleDownPolicy{
		named("young", 9, metav1.LabelSelector{}), named("b", 5, *selector("app", "web")), named("a", 5, *selector("app", "web")),
		named("other", 1, *selector("app", "api")), deleted, invalid,
	}, labels.Set{"app": "web", "tier": "front"})
	var names []string
	for _, each := range chosen {
		names = append(names, each.Policy.Name)
	}
	if err != nil || !slices.Equal(wrong, []string{"invalid"}) || !slices.Equal(names, []string{"a", "b", "young"}) {
		t.Error(names, wrong, err)
	}
}

// So many policies are not read at each scale-down, and of each only what is needed is kept.
func TestTooMany(t *testing.T) {
	var policies []v1alpha1.ScaleDownPolicy
	for i := range 50 {
		p := named(fmt.Sprint("p", i), 0, metav1.LabelSelector{})
		p.Annotations, p.Labels = map[string]string{"large": "x"}, map[string]string{"large": "x"}
		p.Status.Conditions = []metav1.Condition{{Type: "large"}}
		policies = append(policies, p)
	}
	chosen, _, err := each(policies, nil)
	if err != nil || len(chosen) != 50 {
		t.Errorf("%d: %v", len(chosen), err)
	}
	for _, each := range chosen {
		if p := each.Policy; p.Annotations != nil || p.Labels != nil || p.Status.Conditions != nil || p.Namespace != "shop" {
			t.Errorf("%+v", p)
		}
	}
	_, _, err = each(append(policies, named("more", 0, metav1.LabelSelector{})), nil)
	if err == nil || err.Error() != "namespace shop has more than 50 policies" {
		t.Errorf("%v", err)
	}
}

func TestTier(t *testing.T) {
	p := named("p", 0, metav1.LabelSelector{})
	p.Spec.First = []v1alpha1.Tier{
		{Nodes: selector("lifecycle", "spot"), Pods: selector("draining", "true")},
		{Nodes: selector("lifecycle", "spot")},
		{Nodes: &metav1.LabelSelector{}},
		{Pods: selector("draining", "true")},
	}
	compiled, err := policy.Compile(&p)
	fakeapi.Must(t, err)
	nodes := func(name string) labels.Set {
		return map[string]labels.Set{"spot": {"lifecycle": "spot"}, "reserved": {"lifecycle": "reserved"}}[name]
	}
	for _, test := range []struct {
		node, draining string
		want           int
	}{
		{"spot", "true", 0}, {"spot", "", 1}, {"reserved", "", 2}, {"unknown", "", 2}, {"", "true", 3}, {"", "", 4},
	} {
		pod := &corev1.Pod{Spec: corev1.PodSpec{NodeName: test.node}}
		pod.Labels = map[string]string{"draining": test.draining}
		if got := compiled.Tier(pod, nodes); got != test.want {
			t.Errorf("%+v: %d", test, got)
		}
	}
}

// Racks of one name in two zones are two racks, and everything without a label shares one domain.
func TestDomains(t *testing.T) {
	p := named("p", 0, metav1.LabelSelector{})
	p.Spec.Spread = []string{"zone", "rack"}
	compiled, err := policy.Compile(&p)
	fakeapi.Must(t, err)
	of := func(name string) labels.Set {
		return map[string]labels.Set{"a1": {"zone": "a", "rack": "1"}, "b1": {"zone": "b", "rack": "1"}, "a2": {"zone": "a", "rack": "2"}}[name]
	}
	domains := compiled.Domains(of)
	if len(domains) != 2 {
		t.Fatal(len(domains))
	}
	on := func(node string) *corev1.Pod { return &corev1.Pod{Spec: corev1.PodSpec{NodeName: node}} }
	rack, zone := domains[0], domains[1]
	if rack(on("a1")) == rack(on("b1")) || rack(on("a1")) == rack(on("a2")) || zone(on("a1")) != zone(on("a2")) ||
		zone(on("a1")) == zone(on("b1")) || rack(on("")) != rack(on("unknown")) {
		t.Error("domains are mixed up")
	}
	nodes := compiled.NodeDomains(of)
	if zone, rack := nodes[0], nodes[1]; len(nodes) != 2 || zone("a1") != zone("a2") || zone("a1") == zone("b1") || rack("a1") != rack("b1") || rack("a1") == rack("a2") {
		t.Error("domains of nodes are mixed up")
	}
}

func TestInvalid(t *testing.T) {
	bad := &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "a", Operator: "In"}}}
	cpu := &v1alpha1.Measure{Resource: "cpu"}
	for name, spec := range map[string]v1alpha1.ScaleDownPolicySpec{
		"spec.selector":                      {Selector: *bad},
		"spec.first[0].nodes":                {First: []v1alpha1.Tier{{Nodes: bad}}},
		"spec.first[1]: ":                    {First: []v1alpha1.Tier{{Pods: selector("a", "b")}, {}}},
		"spec.first[0]: set lowest or":       {First: []v1alpha1.Tier{{Lowest: cpu, Highest: cpu}}},
		"spec.first[1]: only":                {First: []v1alpha1.Tier{{Lowest: cpu}, {Pods: selector("a", "b"), Highest: cpu}}},
		"spec.first[0].lowest: set one":      {First: []v1alpha1.Tier{{Nodes: selector("a", "b"), Lowest: &v1alpha1.Measure{}}}},
		"spec.first[0].highest: metric.name": {First: []v1alpha1.Tier{{Highest: &v1alpha1.Measure{Metric: &v1alpha1.PodMetric{Name: "../a"}}}}},
		"spec.first[1].pods":                 {First: []v1alpha1.Tier{{Pods: selector("a", "b")}, {Pods: bad}}},
	} {
		_, err := policy.Compile(&v1alpha1.ScaleDownPolicy{Spec: spec})
		if err == nil || len(err.Error()) < len(name) || err.Error()[:len(name)] != name {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A pod whose value is too high for its entry is in the first of the later ones that it matches.
func TestWish(t *testing.T) {
	p := named("p", 0, metav1.LabelSelector{})
	p.Spec.First = []v1alpha1.Tier{{Pods: selector("a", "0")}, {Lowest: &v1alpha1.Measure{Query: "sessions"}}, {Pods: selector("a", "0")}, {Pods: selector("a", "1")}}
	compiled, err := policy.Compile(&p)
	fakeapi.Must(t, err)
	if tier, wish := compiled.Wish(); tier != 1 || wish == nil || wish.Query != "sessions" || wish.Highest {
		t.Error(tier, wish)
	}
	for value, want := range map[string][3]int{"0": {0, 1, 2}, "1": {1, 1, 3}, "2": {1, 1, 4}} {
		pod := &corev1.Pod{}
		pod.Labels = map[string]string{"a": value}
		got := [3]int{compiled.Tier(pod, nil), compiled.TierFrom(1, pod, nil), compiled.TierFrom(2, pod, nil)}
		if got != want {
			t.Errorf("%s: %v", value, got)
		}
	}
}
