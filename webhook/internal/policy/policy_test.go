package policy_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/podrank/podrank/webhook/api/v1alpha1"
	"github.com/podrank/podrank/webhook/internal/bounded"
	"github.com/podrank/podrank/webhook/internal/fakeapi"
	"github.com/podrank/podrank/webhook/internal/policy"
	"github.com/podrank/podrank/webhook/internal/workload"
)

func selector(key, value string) *v1alpha1.LabelSelector {
	return &v1alpha1.LabelSelector{MatchLabels: map[string]string{key: value}}
}

func named(name string, selector *v1alpha1.LabelSelector) v1alpha1.ScaleDownPolicy {
	p := v1alpha1.ScaleDownPolicy{Spec: v1alpha1.ScaleDownPolicySpec{Selector: selector}}
	p.Name = name
	return p
}

func targeting(name, apiVersion, kind, target string) v1alpha1.ScaleDownPolicy {
	p := named(name, nil)
	p.Spec.TargetRef = &v1alpha1.WorkloadReference{APIVersion: apiVersion, Kind: kind, Name: target}
	return p
}

// all selects all sets, and setOf is one whose template has these labels, of the Argo Rollout web.
func all() *v1alpha1.LabelSelector { return &v1alpha1.LabelSelector{} }

func setOf(labels map[string]string) *workload.Set {
	set := &workload.Set{Kind: workload.ReplicaSet, Object: workload.Metadata(workload.ReplicaSet), TemplateLabels: labels}
	set.Object.Name = "web-1"
	set.Object.OwnerReferences = []metav1.OwnerReference{
		{APIVersion: "v1", Kind: "ConfigMap", Name: "another"},
		{APIVersion: "argoproj.io/v1alpha1", Kind: "Rollout", Name: "web", Controller: new(true)},
	}
	return set
}

// each returns the policies of the shop that select a set with these labels, in the order in which they count, and the
// invalid ones.
func each(objects []v1alpha1.ScaleDownPolicy, set map[string]string) (chosen []*policy.Compiled, wrong []string, err error) {
	var existing []client.Object
	for i := range objects {
		objects[i].Namespace = "shop"
		existing = append(existing, &objects[i])
	}
	err = policy.Each(context.Background(), bounded.NewReader(fakeapi.New(existing...), 1), "shop", []v1alpha1.ForeignCosts{v1alpha1.Follow}, func(compiled *policy.Compiled, err error) {
		if err != nil {
			wrong = append(wrong, compiled.Policy.Name)
		} else if compiled.Selects(setOf(set)) {
			chosen = append(chosen, compiled)
		}
	})
	slices.SortFunc(chosen, policy.Compare)
	return chosen, wrong, err
}

func TestEach(t *testing.T) {
	deleted := named("deleted", all())
	deleted.DeletionTimestamp, deleted.Finalizers = &metav1.Time{Time: fakeapi.Now}, []string{"example.com/stays"}
	invalid := named("invalid", &v1alpha1.LabelSelector{MatchExpressions: []v1alpha1.LabelSelectorRequirement{{Key: "a", Operator: "Nonsense"}}})
	chosen, wrong, err := each([]v1alpha1.ScaleDownPolicy{
		named("a", all()), named("b", selector("app", "web")), named("z", selector("tier", "front")), targeting("zz", "argoproj.io/v2", "Rollout", "web"),
		named("other", selector("app", "api")), deleted, invalid,
	}, labels.Set{"app": "web", "tier": "front"})
	var names []string
	for _, each := range chosen {
		names = append(names, each.Policy.Name)
	}
	if err != nil || !slices.Equal(wrong, []string{"invalid"}) || !slices.Equal(names, []string{"zz", "b", "z", "a"}) {
		t.Error(names, wrong, err)
	}
}

// So many policies are not read at each scale-down, and of each only what is needed is kept.
func TestTooMany(t *testing.T) {
	var policies []v1alpha1.ScaleDownPolicy
	for i := range 50 {
		p := named(fmt.Sprint("p", i), all())
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
	_, _, err = each(append(policies, named("more", all())), nil)
	if err == nil || err.Error() != "namespace shop has more than 50 policies" {
		t.Errorf("%v", err)
	}
}

func TestTier(t *testing.T) {
	p := named("p", all())
	p.Spec.DeleteFirst = []v1alpha1.Preference{
		{Type: v1alpha1.PreferenceNodes, Nodes: selector("lifecycle", "spot")},
		{Type: v1alpha1.PreferenceNodes, Nodes: all()},
		{Type: v1alpha1.PreferencePods, Pods: selector("draining", "true")},
	}
	compiled, err := policy.Compile(&p)
	fakeapi.Must(t, err)
	nodes := labelled(map[string]labels.Set{"spot": {"lifecycle": "spot"}, "reserved": {"lifecycle": "reserved"}})
	for _, test := range []struct {
		node, draining string
		want           int
	}{
		{"spot", "true", 0}, {"spot", "", 0}, {"reserved", "", 1}, {"unknown", "", 1}, {"", "true", 2}, {"", "", 3},
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

// A preference about nodes matches no pod without a node.
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
		entry                 v1alpha1.Preference
		matches, matchesOther bool
	}{
		{v1alpha1.Preference{Type: v1alpha1.PreferenceTaint, Taint: &v1alpha1.Taint{Key: "going"}}, true, false},
		{v1alpha1.Preference{Type: v1alpha1.PreferenceTaint, Taint: &v1alpha1.Taint{Key: "going", Value: new("soon"), Effect: "NoSchedule"}}, true, false},
		{v1alpha1.Preference{Type: v1alpha1.PreferenceTaint, Taint: &v1alpha1.Taint{Key: "going", Value: new("")}}, false, false},
		{v1alpha1.Preference{Type: v1alpha1.PreferenceTaint, Taint: &v1alpha1.Taint{Key: "going", Effect: "NoExecute"}}, false, false},
		{v1alpha1.Preference{Type: v1alpha1.PreferenceTaint, Taint: &v1alpha1.Taint{Key: "other", Value: new("")}}, true, false},
		{v1alpha1.Preference{Type: v1alpha1.PreferenceCondition, Condition: condition("Ready", "False")}, true, false},
		{v1alpha1.Preference{Type: v1alpha1.PreferenceCondition, Condition: condition("Ready", "Unknown")}, false, false},
		{v1alpha1.Preference{Type: v1alpha1.PreferenceCondition, Condition: condition("MemoryPressure", "Unknown")}, false, false},
		{v1alpha1.Preference{Type: v1alpha1.PreferenceNodes, Nodes: all()}, true, true},
		{v1alpha1.Preference{Type: v1alpha1.PreferenceNodes, Nodes: selector("a", "b")}, false, false},
	} {
		p := named("p", all())
		p.Spec.DeleteFirst = []v1alpha1.Preference{test.entry}
		compiled, err := policy.Compile(&p)
		fakeapi.Must(t, err)
		for name, want := range map[string]bool{"node": test.matches, "other": test.matchesOther, "": false} {
			if got := compiled.Tier(&corev1.Pod{Spec: corev1.PodSpec{NodeName: name}}, nodes) == 0; got != want {
				t.Errorf("entry %d, node %q: %v", i, name, got)
			}
		}
	}
}

// What the administrator does not allow makes a policy invalid.
func TestForeignCosts(t *testing.T) {
	var policies []v1alpha1.ScaleDownPolicy
	for _, others := range []v1alpha1.ForeignCosts{"", v1alpha1.Keep, v1alpha1.Follow, v1alpha1.Override, "Other"} {
		p := named("p"+strings.ToLower(string(others)), all())
		p.Spec.ForeignCosts = others
		policies = append(policies, p)
	}
	chosen, wrong, err := each(policies, nil)
	if slices.Sort(wrong); err != nil || len(chosen) != 3 || !slices.Equal(wrong, []string{"pother", "poverride"}) {
		t.Error(chosen, wrong, err)
	}
}

// Racks of one name in two zones are two racks, and everything without a label shares one domain.
func TestDomains(t *testing.T) {
	p := named("p", all())
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
	bad := &v1alpha1.LabelSelector{MatchExpressions: []v1alpha1.LabelSelectorRequirement{{Key: "a", Operator: "In"}}}
	type preferences = []v1alpha1.Preference
	pods := v1alpha1.Preference{Type: v1alpha1.PreferencePods, Pods: selector("a", "b")}
	measured := func(kind v1alpha1.PreferenceType, lowest, highest *v1alpha1.Measure) v1alpha1.Preference {
		return v1alpha1.Preference{Type: kind, Lowest: lowest, Highest: highest}
	}
	cpu := &v1alpha1.Measure{Resource: "cpu"}
	path := &v1alpha1.Measure{Metric: &v1alpha1.PodMetric{Name: "../a"}}
	for want, preferences := range map[string]preferences{
		"spec.deleteFirst[0].nodes":                {{Type: v1alpha1.PreferenceNodes, Nodes: bad}},
		"spec.deleteFirst[1]: exactly":             {pods, {}},
		"spec.deleteFirst[0]: exactly the":         {{Type: v1alpha1.PreferencePods, Nodes: pods.Pods}},
		"spec.deleteFirst[0]: exactly the member":  {measured(v1alpha1.PreferenceLowest, cpu, cpu)},
		"spec.deleteFirst[0]: exactly the member ": {{Type: "Age"}},
		"spec.deleteFirst[1]: at most one":         {measured(v1alpha1.PreferenceLowest, cpu, nil), measured(v1alpha1.PreferenceHighest, nil, cpu)},
		"spec.deleteFirst[0].lowest: set one":      {measured(v1alpha1.PreferenceLowest, &v1alpha1.Measure{}, nil)},
		"spec.deleteFirst[0].highest: metric.name": {measured(v1alpha1.PreferenceHighest, nil, path)},
		"spec.deleteFirst[1].pods":                 {pods, {Type: v1alpha1.PreferencePods, Pods: bad}},
	} {
		_, err := policy.Compile(&v1alpha1.ScaleDownPolicy{Spec: v1alpha1.ScaleDownPolicySpec{Selector: all(), DeleteFirst: preferences}})
		if err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
	both := targeting("both", "apps/v1", "Deployment", "web")
	both.Spec.Selector = all()
	neither, unknown := named("neither", nil), named("unknown", bad)
	for want, p := range map[string]v1alpha1.ScaleDownPolicy{"spec: exactly one of": both, "spec: exactly one of targetRef": neither, "spec.selector: ": unknown} {
		if _, err := policy.Compile(&p); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
}

// A targetRef names the set or its controller, by group, kind and name, whatever the version.
func TestTarget(t *testing.T) {
	set := setOf(nil)
	rc := &workload.Set{Kind: workload.ReplicationController, Object: workload.Metadata(workload.ReplicationController)}
	rc.Object.Name = "web-1"
	for _, test := range []struct {
		set                    *workload.Set
		apiVersion, kind, name string
		want                   bool
	}{
		{set, "apps/v1", "ReplicaSet", "web-1", true},
		{set, "apps/v1beta2", "ReplicaSet", "web-1", true},
		{set, "extensions/v1beta1", "ReplicaSet", "web-1", false},
		{set, "v1", "ReplicaSet", "web-1", false},
		{set, "apps", "ReplicaSet", "web-1", false},
		{set, "apps/v1", "ReplicaSet", "web", false},
		{set, "argoproj.io/v1alpha1", "Rollout", "web", true},
		{set, "apps/v1", "Rollout", "web", false},
		{set, "argoproj.io/v1alpha1", "Rollout", "web-1", false},
		{set, "argoproj.io/v1alpha1", "Deployment", "web", false},
		{set, "v1", "ConfigMap", "another", false},
		{rc, "v1", "ReplicationController", "web-1", true},
		{rc, "apps/v1", "ReplicationController", "web-1", false},
	} {
		p := targeting("p", test.apiVersion, test.kind, test.name)
		compiled, err := policy.Compile(&p)
		fakeapi.Must(t, err)
		if got := compiled.Selects(test.set); got != test.want {
			t.Errorf("%s %s %s: %t", test.apiVersion, test.kind, test.name, got)
		}
	}
}

// A pod whose value is too high for its entry is in the first of the later ones that it matches.
func TestWish(t *testing.T) {
	p := named("p", all())
	p.Spec.DeleteFirst = []v1alpha1.Preference{{Type: v1alpha1.PreferencePods, Pods: selector("a", "0")}, {Type: v1alpha1.PreferenceLowest, Lowest: &v1alpha1.Measure{Query: "sessions"}}, {Type: v1alpha1.PreferencePods, Pods: selector("a", "0")}, {Type: v1alpha1.PreferencePods, Pods: selector("a", "1")}}
	compiled, err := policy.Compile(&p)
	fakeapi.Must(t, err)
	if tier, preference := compiled.OfTier, compiled.Preference; tier != 1 || preference == nil || preference.Query != "sessions" || preference.Highest {
		t.Error(tier, preference)
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
