package steer_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podrank/podrank/webhook/api/v1alpha1"
	"github.com/podrank/podrank/webhook/internal/cost"
	"github.com/podrank/podrank/webhook/internal/fakeapi"
	"github.com/podrank/podrank/webhook/internal/steer"
	"github.com/podrank/podrank/webhook/internal/workload"
)

// rules are by which pods are deleted, by their names.
func rules(o *steer.Outcome) map[string]string {
	all := map[string]string{}
	for i, pod := range o.Selected {
		all[pod.Key.Name] = o.Whys[i].Rule
		if value := o.Whys[i].Value; value != nil {
			all[pod.Key.Name] += fmt.Sprintf(" %v", *value)
		}
	}
	return all
}

// says reports that pods are deleted by these rules, and that their annotations say so.
func (s *shop) says(name string, o *steer.Outcome, want map[string]string) {
	s.Helper()
	if got := rules(o); fmt.Sprint(got) != fmt.Sprint(want) || o.Next == "" {
		s.Errorf("%s: %v, not %v; next %q", name, got, want, o.Next)
	}
	for i, selected := range o.Selected {
		pod := fakeapi.Read[corev1.Pod](s, s.API, selected.Key.Name)
		if steered, ok := cost.SteeredOf(pod); !ok && o.Written == o.Count || ok && steered.Rule != o.Whys[i].Rule {
			s.Errorf("%s: the annotation of %s is %s", name, pod.Name, pod.Annotations[cost.Annotation])
		}
	}
	count := 0
	for _, of := range o.Rules {
		count += of
	}
	if count != o.Count || count != len(o.Selected) {
		s.Errorf("%s: %v of %d pods", name, o.Rules, o.Count)
	}
}

// What the policy says is named by its entry, in which a value may decide. Pods with an odd number are on spot nodes.
func TestRules(t *testing.T) {
	_, spot, _ := fakeapi.Shop(0)
	nodes := spot.Spec.DeleteFirst[0].Nodes
	one := &v1alpha1.LabelSelector{MatchLabels: map[string]string{"one": "yes"}}
	six := []float64{3, 9, 1, 8, 2, 7}
	for name, c := range map[string]struct {
		entries []v1alpha1.Preference
		numbers []float64
		to      int32
		want    map[string]string
	}{
		"an entry":               {[]v1alpha1.Preference{{Type: v1alpha1.PreferenceNodes, Nodes: nodes}}, nil, 3, map[string]string{"web-1": "deleteFirst[0]", "web-3": "deleteFirst[0]", "web-5": "deleteFirst[0]"}},
		"a later entry":          {[]v1alpha1.Preference{{Type: v1alpha1.PreferencePods, Pods: one}, {Type: v1alpha1.PreferenceNodes, Nodes: nodes}}, nil, 3, map[string]string{"web-1": "deleteFirst[1]", "web-3": "deleteFirst[1]", "web-5": "deleteFirst[1]"}},
		"within an entry":        {[]v1alpha1.Preference{{Type: v1alpha1.PreferenceNodes, Nodes: nodes}}, nil, 4, map[string]string{"web-1": "uid", "web-3": "uid"}},
		"a value":                {[]v1alpha1.Preference{byLowest("")}, six, 4, map[string]string{"web-2": "value 1", "web-4": "value 2"}},
		"values, all of them":    {[]v1alpha1.Preference{byLowest("3")}, six, 3, map[string]string{"web-0": "deleteFirst[0]", "web-2": "deleteFirst[0]", "web-4": "deleteFirst[0]"}},
		"an entry before values": {[]v1alpha1.Preference{{Type: v1alpha1.PreferenceNodes, Nodes: nodes}, byLowest("")}, six, 2, map[string]string{"web-1": "deleteFirst[0]", "web-3": "deleteFirst[0]", "web-5": "deleteFirst[0]", "web-2": "value 1"}},
		"an entry after values":  {[]v1alpha1.Preference{byLowest("0"), {Type: v1alpha1.PreferenceNodes, Nodes: nodes}}, six, 3, map[string]string{"web-1": "deleteFirst[1]", "web-3": "deleteFirst[1]", "web-5": "deleteFirst[1]"}},
		"after values that are too high": {[]v1alpha1.Preference{byLowest("2"), {Type: v1alpha1.PreferenceNodes, Nodes: nodes}}, six, 1,
			map[string]string{"web-2": "deleteFirst[0]", "web-4": "deleteFirst[0]", "web-1": "deleteFirst[1]", "web-3": "deleteFirst[1]", "web-5": "deleteFirst[1]"}},
	} {
		s, _ := valued(t, c.entries, c.numbers...)
		s.says(name, s.fall(c.to, steer.Steered, ""), c.want)
	}
}

// In a rollout, those are deleted first that are not available, and the entries are counted as ever.
func TestRulesOfRollout(t *testing.T) {
	deployment := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{
		Namespace: "shop", Name: "web", UID: uid(8, 0), Annotations: map[string]string{workload.Revision: "2"},
	}}
	s := newShop(t, func(s *shop, pods []*corev1.Pod) {
		s.policy.Spec.Rollouts = v1alpha1.RolloutsSteer
		s.set.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(deployment, appsv1.SchemeGroupVersion.WithKind("Deployment"))}
		s.set.Spec.MinReadySeconds = 60
		pods[0].Status.Conditions[0].LastTransitionTime = metav1.NewTime(now.Add(-time.Second))
	})
	fakeapi.Must(t, s.Create(context.Background(), deployment))
	s.says("a rollout", s.fall(2, steer.Steered, ""), map[string]string{"web-0": "not-available", "web-1": "deleteFirst[0]", "web-3": "deleteFirst[0]", "web-5": "deleteFirst[0]"})
}

// A request that comes again has the reasons of the first, and not the costs that it has written.
func TestRulesAgain(t *testing.T) {
	s := newShop(t, func(s *shop, pods []*corev1.Pod) {
		s.policy.Spec.DeleteFirst = []v1alpha1.Preference{{Type: v1alpha1.PreferencePods, Pods: &v1alpha1.LabelSelector{MatchLabels: map[string]string{"one": "yes"}}}}
		for i := range pods[:3] {
			pods[i].Status.ContainerStatuses = []corev1.ContainerStatus{{RestartCount: 2}}
		}
	})
	want := map[string]string{"web-0": "restarts", "web-1": "restarts", "web-2": "restarts"}
	for range 2 {
		s.says("again", s.fall(3, steer.Steered, ""), want)
	}
}
