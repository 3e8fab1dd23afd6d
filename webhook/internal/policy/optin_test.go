package policy_test

import (
	"context"
	"slices"
	"testing"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/podrank/podrank/webhook/api/v1alpha1"
	"github.com/podrank/podrank/webhook/internal/fakeapi"
	"github.com/podrank/podrank/webhook/internal/policy"
)

// The list follows the policies, and what somebody else writes into it. Nothing is written if it is right.
func TestList(t *testing.T) {
	configuration := &admissionregistrationv1.ValidatingWebhookConfiguration{ObjectMeta: metav1.ObjectMeta{Name: "podrank-webhook"}}
	configuration.Webhooks = []admissionregistrationv1.ValidatingWebhook{{Name: "a"}, {Name: "b"}}
	api := fakeapi.New(configuration)
	keeper := &policy.Keeper{Live: api, Client: api, Configuration: "podrank-webhook", Namespace: "podrank-system", Never: "kube-system"}
	ctx, version := context.Background(), ""
	read := func() *admissionregistrationv1.ValidatingWebhookConfiguration {
		now := &admissionregistrationv1.ValidatingWebhookConfiguration{}
		fakeapi.Must(t, api.Get(ctx, client.ObjectKeyFromObject(configuration), now))
		return now
	}
	is := func(isWritten bool, want ...string) {
		t.Helper()
		if _, err := keeper.Reconcile(ctx, ctrl.Request{}); err != nil {
			t.Fatal(err)
		}
		now := read()
		for _, webhook := range now.Webhooks {
			if got := webhook.NamespaceSelector.MatchExpressions; len(got) != 1 || got[0].Operator != "In" || !slices.Equal(got[0].Values, want) {
				t.Errorf("%s: %v, not %v", webhook.Name, got, want)
			}
		}
		if (now.ResourceVersion != version) != isWritten {
			t.Errorf("written: %t", !isWritten)
		}
		version = now.ResourceVersion
	}
	in := func(namespace, name string) *v1alpha1.ScaleDownPolicy {
		return &v1alpha1.ScaleDownPolicy{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
	}
	create := func(namespace, name string) {
		t.Helper()
		fakeapi.Must(t, api.Create(ctx, in(namespace, name)))
	}
	is(true, "podrank-system")
	is(false, "podrank-system")
	create("kube-system", "a")
	is(false, "podrank-system")
	create("shop", "a")
	is(true, "podrank-system", "shop")
	create("shop", "b")
	create("bar", "a")
	is(true, "bar", "podrank-system", "shop")
	now := read()
	now.Webhooks[1].NamespaceSelector = nil
	fakeapi.Must(t, api.Update(ctx, now))
	is(true, "bar", "podrank-system", "shop")
	for _, name := range []string{"a", "b"} {
		fakeapi.Must(t, api.Delete(ctx, in("shop", name)))
	}
	is(true, "bar", "podrank-system")
	// Uninstalled.
	fakeapi.Must(t, api.Delete(ctx, configuration))
	if _, err := keeper.Reconcile(ctx, ctrl.Request{}); err != nil {
		t.Error(err)
	}
}
