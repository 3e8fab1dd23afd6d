package policy_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
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
	err = policy.Each(context.Background(), bounded.NewReader(fakeapi.New(all...), 1), "shop", []v1alpha1.Others{v1alpha1.Follow}, func(compiled *policy.Compiled, err error) {
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
	nodes := labelled(map[string]labels.Set{"spot": {"lifecycle": "spot"}, "reserved": {"lifecycle": "reserved"}})
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

// labelled are nodes with these labels.
func labelled(all map[string]labels.Set) policy.Nodes {
	return func(name string) *corev1.Node { return &corev1.Node{ObjectMeta: metav1.ObjectMeta{Labels: all[name]}} }
}

// What an entry says of a node has to hold for the same node, and for none if the pod has none.
func TestTierByNode(t *testing.T) {
	going := corev1.Taint{Key: "going", Value: "soon", Effect: corev1.TaintEffectNoSchedule}
	node := &corev1.Node{Spec: corev1.NodeSpec{Unschedulable: true, Taints: []corev1.Taint{{Key: "other"}, going}}}
	node.Status.Conditions = []corev1.NodeCondition{{Type: "Ready", Status: "False"}, {Type: "DiskPressure", Status: "Unknown"}}
	nodes := func(name string) *corev1.Node {
		if name == "node" {
			return node
		}
		return &corev1.Node{}
	}
	condition := func(kind string, status corev1.ConditionStatus) *v1alpha1.NodeCondition {
		return &v1alpha1.NodeCondition{Type: kind, Status: status}
	}
	for i, test := range []struct {
		entry                 v1alpha1.Tier
		matches, matchesOther bool
	}{
		{v1alpha1.Tier{Taint: &v1alpha1.Taint{Key: "going"}}, true, false},
		{v1alpha1.Tier{Taint: &v1alpha1.Taint{Key: "going", Value: new("soon"), Effect: "NoSchedule"}}, true, false},
		{v1alpha1.Tier{Taint: &v1alpha1.Taint{Key: "going", Value: new("")}}, false, false},
		{v1alpha1.Tier{Taint: &v1alpha1.Taint{Key: "going", Effect: "NoExecute"}}, false, false},
		{v1alpha1.Tier{Taint: &v1alpha1.Taint{Key: "other", Value: new("")}}, true, false},
		{v1alpha1.Tier{Condition: condition("Ready", "False")}, true, false},
		{v1alpha1.Tier{Condition: condition("Ready", "Unknown")}, false, false},
		{v1alpha1.Tier{Condition: condition("MemoryPressure", "Unknown")}, false, false},
		{v1alpha1.Tier{Cordoned: new(true)}, true, false},
		{v1alpha1.Tier{Cordoned: new(false)}, false, true},
		{v1alpha1.Tier{Cordoned: new(true), Taint: &v1alpha1.Taint{Key: "gone"}}, false, false},
		{v1alpha1.Tier{Nodes: &metav1.LabelSelector{}, Condition: condition("Ready", "False")}, true, false},
		{v1alpha1.Tier{Nodes: selector("a", "b"), Condition: condition("Ready", "False")}, false, false},
		{v1alpha1.Tier{Pods: selector("a", "b"), Cordoned: new(true)}, false, false},
	} {
		p := named("p", 0, metav1.LabelSelector{})
		p.Spec.First = []v1alpha1.Tier{test.entry}
		compiled, err := policy.Compile(&p)
		fakeapi.Must(t, err)
		for name, want := range map[string]bool{"node": test.matches, "other": test.matchesOther, "": false} {
			if got := compiled.Tier(&corev1.Pod{Spec: corev1.PodSpec{NodeName: name}}, nodes) == 0; got != want {
				t.Errorf("entry %d, node %q: %v", i, name, got)
			}
		}
	}
}

// What the operator does not allow makes a policy wrong.
func TestOthers(t *testing.T) {
	var all []v1alpha1.ScaleDownPolicy
	for _, others := range []v1alpha1.Others{"", v1alpha1.Keep, v1alpha1.Follow, v1alpha1.Override, "Other"} {
		p := named("p"+strings.ToLower(string(others)), 0, metav1.LabelSelector{})
		p.Spec.Others = others
		all = append(all, p)
	}
	chosen, wrong, err := each(all, nil)
	if slices.Sort(wrong); err != nil || len(chosen) != 3 || !slices.Equal(wrong, []string{"pother", "poverride"}) {
		t.Error(chosen, wrong, err)
	}
}

// Racks of one name in two zones are two racks, and everything without a label shares one domain.
func TestDomains(t *testing.T) {
	p := named("p", 0, metav1.LabelSelector{})
	p.Spec.Spread = []string{"zone", "rack"}
	compiled, err := policy.Compile(&p)
	fakeapi.Must(t, err)
	of := labelled(map[string]labels.Set{"a1": {"zone": "a", "rack": "1"}, "b1": {"zone": "b", "rack": "1"}, "a2": {"zone": "a", "rack": "2"}})
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
