//go:build controlplane

package e2e

import (
	"bytes"
	"encoding/json"
	"os/exec"
	"testing"
	"time"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/podrank/podrank/webhook/internal/admit"
	"github.com/podrank/podrank/webhook/internal/app"
)

// reconcileAsGitOps applies the rendered webhook configuration again and again, as Argo CD, Flux and helm upgrade do, under a field manager of its own
// that takes over what it applies. Then nobody writes the configuration, which it returns.
func (w *World) reconcileAsGitOps(t *testing.T) *admissionregistrationv1.ValidatingWebhookConfiguration {
	t.Helper()
	rendered, err := exec.Command("../check/render", "--show-only", "templates/webhook.yaml").Output()
	w.must(err)
	var desired admissionregistrationv1.ValidatingWebhookConfiguration
	w.must(yaml.UnmarshalStrict(rendered, &desired))
	// There is no network of pods.
	address := w.Proxy.URL + admit.Path
	for i := range desired.Webhooks {
		desired.Webhooks[i].ClientConfig = admissionregistrationv1.WebhookClientConfig{URL: &address}
	}
	text, err := json.Marshal(&desired)
	w.must(err)
	read := func() *admissionregistrationv1.ValidatingWebhookConfiguration {
		now := &admissionregistrationv1.ValidatingWebhookConfiguration{}
		w.must(w.Get(w.ctx, client.ObjectKey{Name: app.Configuration}, now))
		return now
	}
	settled := ""
	for i := range 8 {
		apply := &admissionregistrationv1.ValidatingWebhookConfiguration{}
		apply.Name = app.Configuration
		w.must(w.Patch(w.ctx, apply, client.RawPatch(types.ApplyPatchType, text), client.FieldOwner("argocd-controller"), client.ForceOwnership))
		if i == 0 {
			settled = apply.ResourceVersion
		} else if apply.ResourceVersion != settled {
			t.Fatalf("the configuration changed between two passes of the tool: %+v", read().Webhooks[0].NamespaceSelector)
		}
		time.Sleep(500 * time.Millisecond)
	}
	time.Sleep(10 * time.Second)
	now := read()
	if now.ResourceVersion != settled {
		t.Fatalf("the configuration changed after the last pass of the tool: %+v", now.Webhooks[0].NamespaceSelector)
	}
	return now
}

// Beside a GitOps tool, a scale-down in a namespace with the label is steered, and the API server does not ask about one in another namespace.
func TestGitOps(t *testing.T) {
	w, set := NewWorldOf(t, 4, SpotFirst, webSet, 6)
	other, unsteered := NewWorldOf(t, 2, SpotFirst, webSet, 4)
	other.disable()
	for _, webhook := range w.reconcileAsGitOps(t).Webhooks {
		if !bytes.Equal(webhook.ClientConfig.CABundle, w.ca) {
			t.Errorf("%s has other authorities", webhook.Name)
		}
	}
	w.must(w.Scale(set, 3))
	w.AwaitSpots(3)
	other.must(other.Scale(unsteered, 2))
	other.AwaitDeleted(2)
	if calls := other.Proxy.Calls(other.Namespace); len(calls) != 0 || other.CostChanges() != 0 {
		t.Errorf("%d requests, %d costs", len(calls), other.CostChanges())
	}
}
