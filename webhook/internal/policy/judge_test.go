package policy_test

import (
	"context"
	"os"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/podrank/podrank/webhook/api/v1alpha1"
	"github.com/podrank/podrank/webhook/internal/fakeapi"
	"github.com/podrank/podrank/webhook/internal/policy"
	"github.com/podrank/podrank/webhook/internal/probe"
)

func spreading(name string, selector *v1alpha1.LabelSelector) *v1alpha1.ScaleDownPolicy {
	p := named(name, selector)
	p.Namespace, p.UID, p.Generation, p.Spec.Spread = "shop", types.UID(name), 3, []string{"zone"}
	return &p
}

// rights answers that podrank-webhook may patch pods, or may not.
type rights struct {
	*fakeapi.API
	may bool
}

func (r *rights) Create(_ context.Context, object client.Object, _ ...client.CreateOption) error {
	object.(*authorizationv1.SelfSubjectAccessReview).Status.Allowed = r.may
	return nil
}

// newJudge judges the policies of the shop, which is enabled, while the API server reaches podrank-webhook.
func newJudge(api *fakeapi.API) *policy.Judge {
	judge := &policy.Judge{Cache: api, Live: api.Bounded(), Client: &rights{api, true}, Statuses: api.Statuses(), Namespace: "podrank-system"}
	judge.Probed(probe.Reached)
	return judge
}

func shop(name string) *corev1.Namespace {
	return &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{v1alpha1.SteeringLabel: v1alpha1.SteeringEnabled}}}
}

func TestJudge(t *testing.T) {
	set, _, _ := fakeapi.Shop(0)
	specific := spreading("specific", selector("app", "web"))
	api := fakeapi.New(shop("shop"), set, specific, spreading("general", &v1alpha1.LabelSelector{}),
		spreading("other", selector("app", "api")),
		spreading("invalid", &v1alpha1.LabelSelector{MatchExpressions: []v1alpha1.LabelSelectorRequirement{{Key: "a", Operator: "In"}}}))
	judge := newJudge(api)
	is := func(name, ready, conflicted string, workloads int32) {
		t.Helper()
		if _, err := judge.Reconcile(context.Background(), "shop"); err != nil {
			t.Fatal(err)
		}
		status := fakeapi.Read[v1alpha1.ScaleDownPolicy](t, api, name).Status
		for kind, reason := range map[string]string{v1alpha1.Ready: ready, v1alpha1.Conflicted: conflicted} {
			condition := meta.FindStatusCondition(status.Conditions, kind)
			if condition == nil || condition.Reason != reason || condition.ObservedGeneration != 3 || (condition.Status == metav1.ConditionTrue) != (reason == kind) || time.Since(condition.LastTransitionTime.Time) > time.Minute {
				t.Errorf("%s: %+v", name, condition)
			}
		}
		if status.MatchedWorkloads == nil || *status.MatchedWorkloads != workloads || status.Mode != v1alpha1.Steer || status.ObservedGeneration != 3 {
			t.Errorf("%s: %+v", name, status)
		}
	}
	is("specific", "Ready", "NoConflict", 1)
	is("other", "NoWorkloads", "NoConflict", 0)
	is("general", "Conflicted", "Conflicted", 0)
	is("invalid", "Invalid", "NoConflict", 0)
	// Nothing is written that the statuses say already.
	version := fakeapi.Read[v1alpha1.ScaleDownPolicy](t, api, "general").ResourceVersion
	if is("general", "Conflicted", "Conflicted", 0); fakeapi.Read[v1alpha1.ScaleDownPolicy](t, api, "general").ResourceVersion != version {
		t.Error("written again")
	}
	// Of several sets, the first is named. All sets of a Deployment are one workload.
	another := func(name string, labels map[string]string, owners ...metav1.OwnerReference) *appsv1.ReplicaSet {
		other := set.DeepCopy()
		other.Name, other.UID, other.ResourceVersion, other.Spec.Template.Labels, other.OwnerReferences = name, types.UID(name), "", labels, owners
		api.Make(t, other)
		return other
	}
	owner := metav1.OwnerReference{Kind: "Deployment", Name: "web", UID: "deployment", Controller: new(true)}
	another("zebra", set.Spec.Template.Labels, owner)
	another("zebu", set.Spec.Template.Labels, owner)
	is("general", "Conflicted", "Conflicted", 0)
	is("specific", "Ready", "NoConflict", 2)
	status := fakeapi.Read[v1alpha1.ScaleDownPolicy](t, api, "general").Status
	if message := meta.FindStatusCondition(status.Conditions, v1alpha1.Conflicted).Message; message != "policy specific takes precedence for ReplicaSet shop/web" {
		t.Error(message)
	}
	// The general one counts for another set, which the specific one does not select.
	other := another("batch", map[string]string{"app": "batch"})
	is("general", "Ready", "Conflicted", 1)
	fakeapi.Must(t, api.Delete(context.Background(), other))
	is("general", "Conflicted", "Conflicted", 0)
	// When the specific one has been deleted, the general one counts.
	fakeapi.Must(t, api.Delete(context.Background(), specific))
	is("general", "Ready", "NoConflict", 2)
}

// A policy is not ready if nothing can come of it, and says why.
func TestNotReady(t *testing.T) {
	crd, err := os.ReadFile("../../chart/files/podrank.dev_scaledownpolicies.yaml")
	fakeapi.Must(t, err)
	for name, c := range map[string]struct {
		namespace string
		change    func(*policy.Judge, *corev1.Namespace, *v1alpha1.ScaleDownPolicy)
		reason    string
		mode      v1alpha1.Mode
	}{
		"ready":                {"shop", nil, "Ready", v1alpha1.Steer},
		"no label":             {"shop", func(_ *policy.Judge, of *corev1.Namespace, _ *v1alpha1.ScaleDownPolicy) { of.Name = "elsewhere" }, "NamespaceNotEnabled", v1alpha1.Steer},
		"system":               {"kube-system", nil, "Ready", v1alpha1.Steer},
		"its own":              {"podrank-system", nil, "NamespaceNotEnabled", v1alpha1.Steer},
		"not reached":          {"shop", func(j *policy.Judge, _ *corev1.Namespace, _ *v1alpha1.ScaleDownPolicy) { j.Probed(probe.Unreached) }, "NotReachable", v1alpha1.Steer},
		"no probe can be made": {"shop", func(j *policy.Judge, _ *corev1.Namespace, _ *v1alpha1.ScaleDownPolicy) { j.Probed(probe.Unknown) }, "Ready", v1alpha1.Steer},
		"no rights": {"shop", func(j *policy.Judge, _ *corev1.Namespace, _ *v1alpha1.ScaleDownPolicy) {
			j.Client.(*rights).may = false
		}, "MissingRights", v1alpha1.Steer},
		"no rights are needed": {"shop", func(j *policy.Judge, _ *corev1.Namespace, of *v1alpha1.ScaleDownPolicy) {
			j.Client.(*rights).may = false
			of.Spec.Mode = v1alpha1.Observe
		}, "Ready", v1alpha1.Observe},
		"all observe": {"shop", func(j *policy.Judge, _ *corev1.Namespace, _ *v1alpha1.ScaleDownPolicy) { j.Observes = true }, "NotAllowed", v1alpha1.Observe},
		"all observe, as it does": {"shop", func(j *policy.Judge, _ *corev1.Namespace, of *v1alpha1.ScaleDownPolicy) {
			j.Observes = true
			of.Spec.Spread = nil
		}, "Ready", v1alpha1.Observe},
		"foreign costs": {"shop", func(_ *policy.Judge, _ *corev1.Namespace, of *v1alpha1.ScaleDownPolicy) {
			of.Spec.ForeignCosts = v1alpha1.Follow
		}, "NotAllowed", v1alpha1.Steer},
	} {
		set, _, _ := fakeapi.Shop(0)
		of, namespace := spreading("web", &v1alpha1.LabelSelector{}), shop(c.namespace)
		set.Namespace, of.Namespace = c.namespace, c.namespace
		api := fakeapi.New()
		judge := newJudge(api)
		if c.change != nil {
			c.change(judge, namespace, of)
		}
		api.Make(t, namespace, set, of)
		_, err := judge.Reconcile(context.Background(), c.namespace)
		fakeapi.Must(t, err)
		fakeapi.Must(t, api.Get(context.Background(), client.ObjectKeyFromObject(of), of))
		ready := meta.FindStatusCondition(of.Status.Conditions, v1alpha1.Ready)
		if ready == nil || ready.Reason != c.reason || (ready.Status == metav1.ConditionTrue) != (c.reason == "Ready") || of.Status.Mode != c.mode {
			t.Errorf("%s: %+v, mode %s", name, ready, of.Status.Mode)
		}
		if c.reason != "Ready" && !strings.Contains(string(crd), `"`+c.reason+`":`) {
			t.Errorf("the CRD does not explain %s", c.reason)
		}
	}
}

// Nothing is said before the first probe.
func TestNotProbed(t *testing.T) {
	api := fakeapi.New(shop("shop"), spreading("web", &v1alpha1.LabelSelector{}))
	judge := &policy.Judge{Cache: api, Live: api.Bounded(), Statuses: api.Statuses()}
	_, err := judge.Reconcile(context.Background(), "shop")
	if status := fakeapi.Read[v1alpha1.ScaleDownPolicy](t, api, "web").Status; err != nil || status.Conditions != nil {
		t.Errorf("%v, %+v", err, status)
	}
}

// Creating or deleting a set where there is no policy causes no request.
func TestNoPolicy(t *testing.T) {
	set, _, _ := fakeapi.Shop(0)
	judge := &policy.Judge{Cache: fakeapi.New(set, spreading("elsewhere", &v1alpha1.LabelSelector{}))}
	if _, err := judge.Reconcile(context.Background(), "another"); err != nil {
		t.Error(err)
	}
}
