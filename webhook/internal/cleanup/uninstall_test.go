package cleanup_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/podrank/podrank/webhook/internal/cleanup"
	"github.com/podrank/podrank/webhook/internal/cost"
	"github.com/podrank/podrank/webhook/internal/fakeapi"
)

func (s *shop) uninstall() (int, error) {
	return cleanup.Uninstall(context.Background(), s.API, "podrank-webhook", 0)
}

// Once it is uninstalled, no pod has anything of this program, whatever became of the annotation, and the costs of other programs are as they wrote them.
func TestUninstall(t *testing.T) {
	s := newShop(t, steered(2), keptOne())
	ctx := context.Background()
	s.must(s.Create(ctx, &admissionregistrationv1.ValidatingWebhookConfiguration{ObjectMeta: metav1.ObjectMeta{Name: "podrank-webhook"}}))
	// Somebody has removed this annotation, and somebody else's cost was overwritten on that pod.
	unannotated := fakeapi.Read[corev1.Pod](s, s.API, "web-1")
	delete(unannotated.Annotations, cost.Annotation)
	s.must(s.Update(ctx, unannotated, client.FieldOwner("somebody")))
	s.must(s.Costs.Write(ctx, []cost.Write{{Pod: pod(2), Cost: new(int32(-1)), Steered: steeredOf(2), Previous: &cost.Previous{Value: "7", Manager: "karpenter"}}})[0])
	s.play(overrules("web-3"))
	removed, err := s.uninstall()
	s.must(err)
	if removed != 3 {
		t.Errorf("removed from %d pods", removed)
	}
	for name, want := range map[string]string{"web-0": "", "web-1": "", "web-2": "7", "web-3": "100"} {
		now := fakeapi.Read[corev1.Pod](s, s.API, name)
		if got := now.Annotations[corev1.PodDeletionCost]; got != want || cost.Wrote(now, nil) || now.Annotations[cost.PreviousAnnotation] != "" || now.Annotations[cost.Annotation] != "" {
			t.Errorf("%s: %v", name, now.Annotations)
		}
	}
	if err := s.Get(ctx, client.ObjectKey{Name: "podrank-webhook"}, &admissionregistrationv1.ValidatingWebhookConfiguration{}); client.IgnoreNotFound(err) != nil || err == nil {
		t.Errorf("the configuration is there: %v", err)
	}
	// Again, and there is nothing left to do.
	before := len(s.Written())
	removed, err = s.uninstall()
	s.must(err)
	if removed != 0 || len(s.Written()) != before {
		t.Errorf("removed from %d pods", removed)
	}
}

// Pods get the cost of their template again, which does not count as left behind. A pod that cannot be written is an
// error, after all other pods are done.
func TestUninstallTemplate(t *testing.T) {
	s := newShop(t, steered(2), steered(2))
	templateCosts(s)
	s.Before = func(write *fakeapi.Write) error {
		if write.Name == "web-0" {
			return errors.New("no answer")
		}
		return nil
	}
	if _, err := s.uninstall(); err == nil || !strings.Contains(err.Error(), "no answer") {
		t.Error(err)
	}
	s.play(costs("web-0", "-1"), costs("web-1", "10"))
	s.Before = nil
	_, err := s.uninstall()
	s.must(err)
	s.play(costs("web-0", "10"), costs("web-1", "10"))
	s.must(s.Delete(context.Background(), fakeapi.Read[appsv1.ReplicaSet](s, s.API, "web")))
	_, err = s.uninstall()
	s.must(err)
	s.play(costs("web-0", ""), costs("web-1", ""))
}
