package report_test

import (
	"context"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/go-logr/logr"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/events"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/podrank/podrank/webhook/api/v1alpha1"
	"github.com/podrank/podrank/webhook/internal/fakeapi"
	"github.com/podrank/podrank/webhook/internal/report"
	"github.com/podrank/podrank/webhook/internal/steer"
	"github.com/podrank/podrank/webhook/internal/workload"
)

func set(t *testing.T) *workload.Set {
	t.Helper()
	set, err := workload.OfReplicaSet(&appsv1.ReplicaSet{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web", UID: "web"},
		Spec: appsv1.ReplicaSetSpec{Selector: &metav1.LabelSelector{}, Template: corev1.PodTemplateSpec{}}})
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// The API server refuses events with longer notes.
func TestLongNote(t *testing.T) {
	recorder := events.NewFakeRecorder(10)
	r := &report.Reporter{Events: recorder, Log: logr.Discard()}
	r.Outcome(context.Background(), &steer.Outcome{Result: steer.Failed, Message: strings.Repeat("ä", 2_000), Set: set(t)})
	// The recorder puts type and reason before it.
	event := strings.TrimPrefix(<-recorder.Events, "Warning Failed ")
	if len(event) > 1024 || len(event) < 1000 || !utf8.ValidString(event) || !strings.HasSuffix(event, "ä…") {
		t.Errorf("%d bytes: %s", len(event), event)
	}
}

// Nothing is written to a status that stays as it is.
func TestNothingToWrite(t *testing.T) {
	policy := &v1alpha1.ScaleDownPolicy{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "spot", UID: "policy"}}
	api := fakeapi.New(policy)
	version := func() string {
		var now v1alpha1.ScaleDownPolicy
		if err := api.Get(context.Background(), client.ObjectKeyFromObject(policy), &now); err != nil {
			t.Fatal(err)
		}
		return now.ResourceVersion
	}
	before := version()
	r := &report.Reporter{Live: api, Client: api, Events: events.NewFakeRecorder(10), Log: logr.Discard()}
	// Its request is in no status, so that it looks for it several times.
	r.Over(context.Background(), &report.Over{Set: set(t), UID: "web", To: 1, Policy: policy, Gone: 1})
	r.Wait()
	if after := version(); after != before {
		t.Errorf("written: %s is now %s", before, after)
	}
}
