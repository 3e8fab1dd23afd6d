package policies_test

import (
	"context"
	"testing"
	"time"

	"github.com/go-logr/logr"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"

	"github.com/podrank/podrank/webhook/api/v1alpha1"
	"github.com/podrank/podrank/webhook/internal/fakeapi"
	"github.com/podrank/podrank/webhook/internal/policies"
	"github.com/podrank/podrank/webhook/internal/report"
)

func policy(name string, second int64, selector metav1.LabelSelector) *v1alpha1.ScaleDownPolicy {
	return &v1alpha1.ScaleDownPolicy{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name, UID: types.UID(name), CreationTimestamp: metav1.Unix(second, 0)},
		Spec:       v1alpha1.ScaleDownPolicySpec{Selector: selector, Spread: []string{"zone"}},
	}
}

func TestJudge(t *testing.T) {
	web := metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}}
	set := &appsv1.ReplicaSet{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web"}, Spec: appsv1.ReplicaSetSpec{
		Selector: &web, Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: web.MatchLabels}},
	}}
	older := policy("older", 1, web)
	api := fakeapi.New(set, older, policy("younger", 2, metav1.LabelSelector{}),
		policy("other", 0, metav1.LabelSelector{MatchLabels: map[string]string{"app": "api"}}),
		policy("invalid", 0, metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "a", Operator: "In"}}}))
	judge := &policies.Judge{Cache: api, Reporter: &report.Reporter{
		Live: api, Client: api, Events: events.NewFakeRecorder(1), Log: logr.Discard(),
	}}
	is := func(name, reason string) {
		t.Helper()
		if _, err := judge.Reconcile(context.Background(), "shop"); err != nil {
			t.Fatal(err)
		}
		var now v1alpha1.ScaleDownPolicy
		if err := api.Get(context.Background(), types.NamespacedName{Namespace: "shop", Name: name}, &now); err != nil {
			t.Fatal(err)
		}
		condition := meta.FindStatusCondition(now.Status.Conditions, v1alpha1.Accepted)
		if condition == nil || condition.Reason != reason || time.Since(condition.LastTransitionTime.Time) > time.Minute {
			t.Errorf("%s: %+v", name, condition)
		}
	}
	is("older", "Accepted")
	is("other", "Accepted")
	is("younger", "Shadowed")
	is("invalid", "Invalid")
	// The younger counts for another set, for which the older does not.
	other := set.DeepCopy()
	other.Name, other.UID, other.ResourceVersion = "batch", "batch", ""
	other.Spec.Template.Labels = map[string]string{"app": "batch"}
	if err := api.Create(context.Background(), other); err != nil {
		t.Fatal(err)
	}
	is("younger", "Accepted")
	if err := api.Delete(context.Background(), other); err != nil {
		t.Fatal(err)
	}
	is("younger", "Shadowed")
	// When the older one is gone, the younger counts.
	if err := api.Delete(context.Background(), older); err != nil {
		t.Fatal(err)
	}
	is("younger", "Accepted")
}
