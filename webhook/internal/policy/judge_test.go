package policy_test

import (
	"context"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podrank/podrank/webhook/api/v1alpha1"
	"github.com/podrank/podrank/webhook/internal/fakeapi"
	"github.com/podrank/podrank/webhook/internal/policy"
)

func aged(name string, second int64, selector metav1.LabelSelector) *v1alpha1.ScaleDownPolicy {
	return &v1alpha1.ScaleDownPolicy{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name, UID: types.UID(name), CreationTimestamp: metav1.Unix(second, 0)},
		Spec:       v1alpha1.ScaleDownPolicySpec{Selector: selector, Spread: []string{"zone"}},
	}
}

func TestJudge(t *testing.T) {
	web := metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}}
	set, _, _ := fakeapi.Shop(0)
	older := aged("older", 1, web)
	api := fakeapi.New(set, older, aged("younger", 2, metav1.LabelSelector{}),
		aged("other", 0, metav1.LabelSelector{MatchLabels: map[string]string{"app": "api"}}),
		aged("invalid", 0, metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "a", Operator: "In"}}}))
	judge := &policy.Judge{Cache: api, Live: api.Bounded(), Statuses: api.Statuses()}
	is := func(name, reason string) {
		t.Helper()
		if _, err := judge.Reconcile(context.Background(), "shop"); err != nil {
			t.Fatal(err)
		}
		now := fakeapi.Read[v1alpha1.ScaleDownPolicy](t, api, name)
		condition := meta.FindStatusCondition(now.Status.Conditions, v1alpha1.Accepted)
		if condition == nil || condition.Reason != reason || time.Since(condition.LastTransitionTime.Time) > time.Minute {
			t.Errorf("%s: %+v", name, condition)
		}
	}
	is("older", "Accepted")
	is("other", "Accepted")
	is("younger", "Shadowed")
	is("invalid", "Invalid")
	// What the statuses say already is not read again.
	live, reads := api.Counted()
	judge.Statuses.Live = live
	if is("younger", "Shadowed"); reads.Count.Load() != 0 {
		t.Errorf("%d reads", reads.Count.Load())
	}
	// Of several sets, the first is named.
	another := func(name string, labels map[string]string) *appsv1.ReplicaSet {
		other := set.DeepCopy()
		other.Name, other.UID, other.ResourceVersion, other.Spec.Template.Labels = name, types.UID(name), "", labels
		api.Make(t, other)
		return other
	}
	another("zebra", set.Spec.Template.Labels)
	is("younger", "Shadowed")
	status := fakeapi.Read[v1alpha1.ScaleDownPolicy](t, api, "younger").Status
	if message := status.Conditions[0].Message; message != "the older policy older counts for ReplicaSet shop/web" {
		t.Error(message)
	}
	// The younger counts for another set, for which the older does not.
	other := another("batch", map[string]string{"app": "batch"})
	is("younger", "Accepted")
	fakeapi.Must(t, api.Delete(context.Background(), other))
	is("younger", "Shadowed")
	// When the older one is gone, the younger counts.
	fakeapi.Must(t, api.Delete(context.Background(), older))
	is("younger", "Accepted")
}

// A set that comes or goes where there is no policy costs no request.
func TestNoPolicy(t *testing.T) {
	set, _, _ := fakeapi.Shop(0)
	judge := &policy.Judge{Cache: fakeapi.New(set, aged("elsewhere", 1, metav1.LabelSelector{}))}
	if _, err := judge.Reconcile(context.Background(), "another"); err != nil {
		t.Error(err)
	}
}
